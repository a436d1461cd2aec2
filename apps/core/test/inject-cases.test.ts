import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { http } from '@svc/service-kit/builtin.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { listen } from '@svc/testing/listen.ts';
import { answering, workingUntilAborted } from '@svc/testing/scripted-engine.ts';
import { createChannelSender, type ChannelMessage, type SendOutcome } from '../src/delivery/channel-sender.ts';
import type { InjectAnswer } from '@svc/contract/session.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

const key = 'compat:c1:key';
const routed = (text: string) => envelope(text, { channel_context: { chatId: 'room' } });
const sent: ChannelMessage[] = [];
let outcome: () => Promise<SendOutcome>;
let core: TestCore;

beforeEach(async () => {
  sent.length = 0;
  outcome = () => Promise.resolve({ delivered: true });
  core = await openTestCore({ sendToChannel });
});
afterEach(() => core.close());

function sendToChannel(message: ChannelMessage): Promise<SendOutcome> {
  sent.push(message);
  return outcome();
}

async function inject(text: string, over: object = {}) {
  const payload = { conversation_key: key, text, by: 'bo', ...over };
  const response = await core.app.inject({ method: 'POST', url: '/v2/inject', payload });
  return { status: response.statusCode, body: response.json<InjectAnswer>() };
}

/** A turn that works until it is aborted. */
async function beginWork(text = 'work') {
  core.engine.script(workingUntilAborted('so far'));
  const working = core.handle(routed(text));
  await expect.poll(() => core.context.pipeline.counts().running).toBe(1);
  return { working };
}

describe('POST /v2/inject', () => {
  test('rejects blank text without interrupting the running turn', async () => {
    const { working } = await beginWork();
    expect((await inject(' \n', { interrupt: true })).status).toBe(400);
    expect((await core.app.inject({ method: 'POST', url: '/v2/title', payload: { text: ' \n' } })).statusCode).toBe(400);
    expect(core.context.pipeline.isBusy(key)).toBe(true);
    await core.app.inject({ method: 'POST', url: '/v2/abort', payload: { conversation_key: key } });
    await working;
  });

  test('[L05] runs the text as the next turn of the session and returns its reply', async () => {
    await core.handle(routed('hi'));
    const { status, body } = await inject('look again');
    expect(status).toBe(200);
    expect(body).toMatchObject({ ok: true, reply: 'look again', delivered: true, deliverErr: null, outcome: 'replied' });
    expect(body.route).toEqual({ instance_id: 'c1', target: 'room' });
    expect(core.engine.requests[1]).toMatchObject({ text: 'look again', resume: 's-compat:c1:key' });
  });

  test('[L05] runs after the current turn and before all waiting messages, in order', async () => {
    let release = () => undefined as void;
    const held = new Promise<void>((resolve) => (release = resolve));
    core.engine.script(async function* (request) {
      if (request.text === 'first') await held;
      yield* answering(request.text)(request, new AbortController().signal);
    });
    await core.handle(routed('hi'));
    const first = core.handle(routed('first'));
    await expect.poll(() => core.context.pipeline.counts().running).toBe(1);
    const waiting = core.handle(routed('waiting'));
    await expect.poll(() => core.context.pipeline.counts().waiting).toBe(1);
    const words = [inject('words'), inject('more words')];
    await expect.poll(() => core.context.pipeline.counts().waiting).toBe(3);
    release();
    await Promise.all([first, waiting, ...words]);
    expect(core.engine.requests.map(({ text }) => text)).toEqual(['hi', 'first', 'words', 'more words', 'waiting']);
  });

  test('[L05] with interrupt, aborts the running turn silently and then runs', async () => {
    await core.handle(routed('hi'));
    const { working } = await beginWork();
    core.engine.script(answering('turned round'));
    const { body } = await inject('turn round', { interrupt: true });
    expect((await working).json()).toMatchObject({ actions: [], outcome: 'aborted' });
    expect(body).toMatchObject({ reply: 'turned round', delivered: true });
    expect(sent.map(({ text }) => text)).toEqual(['turned round']);
    expect(core.engine.requests.at(-1)?.resume).toBe('s-compat:c1:key');
  });

  test.each([false, true])('[L05] with interrupt %s on an idle session, runs the text', async (interrupt) => {
    await core.handle(routed('hi'));
    expect((await inject('go on', { interrupt })).body).toMatchObject({ reply: 'go on' });
  });

  test('tells the engine that it was at work only if the session was busy', async () => {
    await core.handle(routed('hi'));
    await inject('when idle');
    const { working } = await beginWork();
    core.engine.script(answering('yes'));
    await inject('when at work', { interrupt: true });
    await working;
    const prompts = core.engine.requests.map(({ prompt }) => prompt);
    expect(prompts[1]).toMatch(/^\[steering from the operator \("bo"\)\]\n\nwhen idle$/);
    expect(prompts.at(-1)).toMatch(/^\[steering from the operator \("bo"\), while you were at work here;.*\]\n\nwhen at work$/);
  });

  test('bypasses moderation, but has only the rights of the person whose session it is', async () => {
    await core.addPrincipal('gast', 'guest');
    await core.handle({ ...routed('hi'), sender: { raw_id: 'gast' } });
    expect((await inject('x'.repeat(100_001))).body).toMatchObject({ outcome: 'replied' });
    expect(core.engine.requests[1]?.toolPolicy).toBe('none');
  });

  test('emits one outbound event, marked as injected', async () => {
    await core.handle(routed('hi'));
    await inject('look');
    const outbound = core.telemetry.events.filter(({ kind }) => kind === 'outbound');
    expect(outbound.map(({ injected, text }) => [injected, text])).toEqual([
      [false, 'hi'],
      [true, 'look'],
    ]);
  });

  test('answers 404 for an unknown session, 409 for a claimed one, 400 without text', async () => {
    expect((await inject('hello?')).status).toBe(404);
    await core.handle(routed('hi'));
    expect((await inject('')).status).toBe(400);
    await core.app.inject({ method: 'POST', url: '/v2/claim', payload: { conversation_key: key, by: 'me' } });
    expect((await inject('hello?')).status).toBe(409);
    expect(core.engine.requests).toHaveLength(1);
  });

  test('[L06] without a stored route, succeeds and names the reason for not delivering', async () => {
    await core.handle(envelope('hi'));
    expect((await inject('look')).body).toMatchObject({
      reply: 'look',
      delivered: false,
      deliverErr: 'the session has no stored outbound route',
      route: null,
    });
    expect(sent).toEqual([]);
  });

  test.each<[string, SendOutcome, RegExp]>([
    ['for now', { delivered: false, permanent: false, error: 'the manager answered 500: oh' }, /500: oh \(it is tried again\)/],
    [
      'for good',
      { delivered: false, permanent: true, error: 'the manager answered 404: no' },
      /404: no \(it is not tried again\)/,
    ],
  ])('[L06] returns its reply and the reason when delivery fails %s', async (_name, failure, words) => {
    outcome = () => Promise.resolve(failure);
    await core.handle(routed('hi'));
    const { status, body } = await inject('look');
    expect([status, body.reply, body.delivered]).toEqual([200, 'look', false]);
    expect(body.deliverErr).toMatch(words);
    const { deliveries } = (await core.app.inject('/v2/deliveries')).json<{ deliveries: object[] }>();
    expect(deliveries).toMatchObject([
      { text: 'look', injected: true, state: failure.delivered ? 'delivered' : expect.any(String) },
    ]);
  });

  test('[L06] returns its reply in bounded time when delivery hangs', async () => {
    const clock = createFakeClock();
    const slow = await openTestCore({ clock, sendToChannel: () => new Promise(() => undefined) });
    await slow.handle(routed('hi'));
    const answer = slow.app.inject({ method: 'POST', url: '/v2/inject', payload: { conversation_key: key, text: 'look' } });
    await expect.poll(() => slow.context.outbox.counts().pending).toBe(1);
    let isAnswered = false;
    void answer.then(() => (isAnswered = true));
    await expect.poll(() => (clock.advance(1000), isAnswered), { interval: 5 }).toBe(true);
    expect((await answer).json()).toMatchObject({
      reply: 'look',
      delivered: false,
      deliverErr: expect.stringContaining('has not answered yet'),
    });
    slow.drop();
  });

  test('[L07] masks a secret in the reply, the events, the history and the push', async () => {
    const secret = 'sk-live-0123456789abcdef';
    writeFileSync(path.join(core.folder, 'secrets.json'), JSON.stringify({ SERVICE: secret }), { mode: 0o600 });
    await core.handle(routed('hi'));
    core.engine.script(answering(`It is ${secret}.`));
    const { body } = await inject('what is the key?');
    expect(body).toMatchObject({ reply: 'It is [redacted:secret].', delivered: true });
    expect(sent.map(({ text }) => text)).toEqual(['It is [redacted:secret].']);
    const history = await core.app.inject(`/v2/session/${key}/history`);
    expect(JSON.stringify([core.telemetry.events, history.body])).not.toContain(secret);
  });

  test('in a public session, runs a public turn', async () => {
    await core.handle({ ...routed('hi'), public: true });
    await inject('where is it?');
    expect(core.engine.requests[1]?.facts).toMatchObject({ public: true, tier: 'TRUSTED' });
  });

  test('delivers nothing for a silent reply, and reports that', async () => {
    await core.handle(routed('hi'));
    core.engine.script(answering('hm [[NO_REPLY]]'));
    expect((await inject('look')).body).toMatchObject({
      reply: '',
      delivered: false,
      deliverErr: expect.stringContaining('silent'),
    });
    expect(sent).toEqual([]);
  });
});

describe('POST /v2/inject with a message_id', () => {
  const named = (text: string, over: object = {}) => inject(text, { message_id: 'w1', ...over });

  test('joins the running turn on a repeat, without interrupting it', async () => {
    await core.handle(routed('hi'));
    const release = Promise.withResolvers<void>();
    core.engine.script(async function* (request, signal) {
      await release.promise;
      yield* answering(request.text)(request, signal);
    });
    const first = named('look', { interrupt: true });
    await expect.poll(() => core.context.pipeline.counts().running).toBe(1);
    const second = named('look', { interrupt: true });
    const pushed = Promise.withResolvers<SendOutcome>();
    outcome = () => pushed.promise;
    release.resolve();
    await expect.poll(() => sent.length).toBe(1);
    pushed.resolve({ delivered: true });
    const [one, other] = await Promise.all([first, second]);
    expect(one.body).toMatchObject({ reply: 'look', delivered: true, outcome: 'replied' });
    expect(other).toEqual(one);
    expect(core.engine.requests.map(({ text }) => text)).toEqual(['hi', 'look']);
  });

  test('returns the earlier answer on a later repeat, without interrupting the current turn', async () => {
    await core.handle(routed('hi'));
    outcome = () => Promise.resolve({ delivered: false, permanent: true, error: 'no such room' });
    const first = await named('look');
    expect(first.body.deliverErr).toMatch(/no such room \(it is not tried again\)/);
    const { working } = await beginWork();
    expect(await named('look', { interrupt: true })).toEqual(first);
    expect(core.context.pipeline.counts().running).toBe(1);
    await core.app.inject({ method: 'POST', url: '/v2/abort', payload: { conversation_key: key } });
    await working;
    expect(sent.map(({ text }) => text)).toEqual(['look']);
  });

  test('runs again after a failure, and answers 409 for the id of a channel message', async () => {
    await core.handle({ ...routed('hi'), message_id: 'm1' });
    core.engine.script(async function* () {
      yield { type: 'failed', failure: { code: 'engine_failed', message: 'It broke.', retryable: false } };
    });
    expect((await named('look')).status).toBe(502);
    core.engine.script(answering('looked'));
    expect((await named('look')).body).toMatchObject({ reply: 'looked', delivered: true });
    expect((await inject('look', { message_id: 'm1' })).status).toBe(409);
  });

  test('is not a message of the channel: its reply does not refer to one', async () => {
    await core.handle(routed('hi'));
    await named('look');
    expect(sent).toMatchObject([{ text: 'look', about: { turn_id: expect.any(String) } }]);
    expect(sent[0]?.about).not.toHaveProperty('message_id');
  });
});

describe('push over the manager', () => {
  const message: ChannelMessage = { id: 'dlv_1', instance_id: 'm1', target: 'room', text: 'hello' };

  async function managerThat(status: number, body: object) {
    const seen: { url?: string; key?: string; text?: string; body: unknown }[] = [];
    const server = http.createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      request.on('end', () => {
        const header = (name: string) => String(request.headers[name]);
        const headers = { key: header('idempotency-key'), text: header('idempotency-text') };
        seen.push({ url: request.url, ...headers, body: JSON.parse(text) });
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      });
    });
    const { url, close } = await listen(server);
    const outcome = await createChannelSender(url, null)(message);
    await close();
    return { seen, outcome };
  }

  test('posts instance, target and text to /send, with an idempotency key', async () => {
    const { seen, outcome: became } = await managerThat(200, { ok: true, delivered: true });
    const body = { instance_id: 'm1', target: 'room', text: 'hello' };
    // A retry may mask a secret in the text that was learned meanwhile: it is still the same message.
    expect(seen).toEqual([{ url: '/send', key: 'dlv_1', text: 'may-change', body }]);
    expect(became).toEqual({ delivered: true });
  });

  test.each([
    [200, { ok: true, delivered: false, message: 'asleep' }, false],
    [401, { error: 'unauthorized' }, false],
    [404, { message: 'There is no instance "m1".' }, true],
    [409, { message: 'stopped' }, false],
    [409, { message: 'it only answers', reason: 'only_answers' }, true],
    [500, { error: 'internal' }, false],
    [503, {}, false],
  ])('[L06] on the answer %i %j, fails (permanently: %s)', async (status, body, permanent) => {
    expect((await managerThat(status, body)).outcome).toMatchObject({ delivered: false, permanent });
  });

  test('[L06] fails temporarily without a manager', async () => {
    const [port] = await freePorts(1);
    const since = systemClock.now();
    expect(await createChannelSender(`http://127.0.0.1:${port}`, null)(message)).toMatchObject({
      delivered: false,
      permanent: false,
    });
    expect(systemClock.now() - since).toBeLessThan(5000);
  });
});
