import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createCoreLink } from '@svc/connector-kit/core-link.ts';
import type { LinkReply } from '@svc/contract/link.ts';
import type { SessionStreamFrame } from '@svc/contract/session.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import { says, workingUntilAborted } from '@svc/testing/scripted-engine.ts';
import { openLinkServer, type LinkServer } from '../src/turn/link-server.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

const annasKey = 'shop:s1:user:anna';
const bosKey = 'shop:s1:user:bo';
const elsewhere = 'compat:c1:key';
const by = (raw_id: string, channel = 'shop') => ({ channel, sender: { raw_id } });

let core: TestCore;
let link: LinkServer;
let file: string;
beforeEach(async () => {
  core = await openTestCore();
  file = path.join(core.folder, 'run/core.sock');
  link = await openLinkServer(core.context, file);
  await core.addPrincipal('anna', 'known', 'shop');
  await core.addPrincipal('bo', 'known', 'shop');
  await core.addPrincipal('gus', 'guest', 'shop');
  await core.addPrincipal('boss', 'owner', 'shop');
  for (const raw_id of ['anna', 'bo', 'gus']) await say(raw_id, `hi of ${raw_id}`);
  await core.handle(envelope('private words', { conversation_key: elsewhere }));
});
afterEach(async () => {
  await link.close();
  await core.close();
});

const say = (raw_id: string, text: string) =>
  core.handle({ ...by(raw_id), conversation_key: `shop:s1:user:${raw_id}`, content: { text } });
const passOf = (sessions?: 'every') => core.context.connectorPasses.issue({ type: 'shop', instanceId: 's1', sessions }).reveal();

/** The link as the connector kit sees it. */
function openSessions(sessions?: 'every') {
  const kit = createCoreLink({ socketPath: file, pass: passOf(sessions), clock: systemClock, log: () => undefined });
  onTestFinished(() => kit.close());
  return kit.sessions;
}
type Sessions = ReturnType<typeof openSessions>;

/** What a watch receives until it ends. */
function watch(sessions: Sessions, raw_id: string, key: string, options: { after?: number; frames?: boolean } = {}) {
  const frames: SessionStreamFrame[] = [];
  const ends: string[] = [];
  const handlers = {
    onFrame: (frame: SessionStreamFrame) => void (frame.type === 'watching' || frames.push(frame)),
    onEnd: ({ code }: { code: string }) => void ends.push(code),
  };
  const stop = sessions.watch(by(raw_id), key, handlers, options);
  return { frames, ends, stop, types: () => frames.map(({ type }) => type), seen: () => JSON.stringify(frames) };
}
const watching = (count: number) => expect.poll(() => core.context.watches.counts().watchers).toBe(count);

describe('sessions over a connector link', () => {
  test('lists the conversations of a person, or all of the instance for an owner', async () => {
    const sessions = openSessions();
    const keysOf = async (raw_id: string) =>
      (await sessions.list(by(raw_id))).sessions.map(({ conversation_key }) => conversation_key).toSorted();
    expect(await keysOf('anna')).toEqual([annasKey]);
    expect(await keysOf('boss')).toEqual([annasKey, bosKey, 'shop:s1:user:gus']);
    const first = await sessions.list(by('boss'), { limit: 2 });
    const rest = await sessions.list(by('boss'), { limit: 2, before: first.next ?? '' });
    expect([first.sessions.length, rest.sessions.length, rest.next]).toEqual([2, 1, null]);
  });

  test('denies people whom the rules of the instance exclude, for conversations of any channel', async () => {
    writeFileSync(path.join(core.folder, 'instance-rules.json'), JSON.stringify({ s1: { allow: ['bo'] } }));
    await core.context.instanceRules.reload();
    const sessions = openSessions('every');
    await expect(sessions.list(by('anna'))).rejects.toMatchObject({ code: 'no_access' });
    for (const key of [annasKey, elsewhere])
      await expect(sessions.history(by('boss'), key)).rejects.toMatchObject({ code: 'no_access' });
    expect((await sessions.list(by('bo'))).sessions).toHaveLength(1);
  });

  test('reads, steers, aborts and forgets a conversation', async () => {
    const sessions = openSessions();
    const { messages } = await sessions.history(by('anna'), annasKey);
    expect(messages.map(({ text }) => text)).toEqual(['hi of anna', 'hi of anna']);
    expect(await sessions.inject(by('anna'), annasKey, { text: 'note' })).toMatchObject({
      ok: true,
      reply: 'note',
      outcome: 'replied',
    });
    await expect(sessions.abort(by('anna'), annasKey)).rejects.toMatchObject({ code: 'not_found' });
    core.engine.script(workingUntilAborted());
    const turn = say('anna', 'work');
    await expect.poll(() => core.context.pipeline.counts().running).toBe(1);
    await expect(sessions.forget(by('anna'), annasKey)).rejects.toMatchObject({ code: 'conflict' });
    await sessions.abort(by('anna'), annasKey);
    expect((await turn).json()).toMatchObject({ outcome: 'aborted' });
    await sessions.forget(by('anna'), annasKey);
    await expect(sessions.history(by('anna'), annasKey)).rejects.toMatchObject({ code: 'not_found' });
  });

  test("an owner's text is an operator's, and another person's is one more message of theirs", async () => {
    const sessions = openSessions();
    const prompt = () => core.engine.requests.at(-1)?.prompt;
    await sessions.inject(by('boss'), annasKey, { text: 'note' });
    expect(prompt()).toContain('[steering from the operator ("boss")]');
    await sessions.inject(by('anna'), annasKey, { text: '/status' });
    expect(prompt()).toContain('[message from "anna" (known)');
    expect(prompt()).not.toContain('steering');
    const { messages } = await sessions.history(by('anna'), annasKey);
    expect(messages.filter(({ role }) => role !== 'assistant').map(({ role, sender }) => [role, sender])).toEqual([
      ['user', 'anna'],
      ['operator', 'boss'],
      ['user', 'anna'],
    ]);
  });

  test('moderates text that is not an operator’s, counts it towards the budget of its sender, and denies one who lost access', async () => {
    const sessions = openSessions();
    const long = 'x'.repeat(100_001);
    expect(await sessions.inject(by('boss'), annasKey, { text: long })).toMatchObject({ outcome: 'replied' });
    expect(await sessions.inject(by('anna'), annasKey, { text: long })).toMatchObject({ outcome: 'blocked' });
    const payload = { surface: 'shop', value: 'anna', month_usd: 0 };
    await core.app.inject({ method: 'PUT', url: '/v2/spend/budget', payload });
    const as = { channel: 'shop', sender: { raw_id: 'anna', raw_username: 'Anna' } };
    expect(await sessions.inject(as, annasKey, { text: 'hello' })).toMatchObject({ outcome: 'blocked' });
    await core.app.inject({ method: 'PUT', url: '/v2/spend/budget', payload: { ...payload, month_usd: null } });
    core.engine.script(workingUntilAborted());
    const working = say('anna', 'work');
    await expect.poll(() => core.context.pipeline.counts().running).toBe(1);
    const waiting = sessions.inject(by('anna'), annasKey, { text: 'and this' });
    await expect.poll(() => core.context.pipeline.counts().waiting).toBe(1);
    await core.app.inject({ method: 'PATCH', url: '/trust/principals/anna', payload: { status: 'disabled' } });
    expect((await working).json()).toMatchObject({ outcome: 'aborted' });
    expect(await waiting).toMatchObject({ outcome: 'denied', reply: 'no access' });
  });

  test('injects text with an id once, and a repeat does not interrupt its turn', async () => {
    const sessions = openSessions();
    core.engine.script(workingUntilAborted());
    const words = { text: 'work', message_id: 'w1', interrupt: true };
    const first = sessions.inject(by('anna'), annasKey, words);
    await expect.poll(() => core.context.pipeline.counts().running).toBe(1);
    const repeat = sessions.inject(by('anna'), annasKey, words);
    // Requests of a link are handled in order.
    await sessions.history(by('anna'), annasKey);
    expect(core.context.pipeline.counts()).toMatchObject({ running: 1, waiting: 0 });
    await sessions.abort(by('anna'), annasKey);
    const answer = await first;
    expect(answer).toMatchObject({ outcome: 'aborted' });
    expect(await repeat).toEqual(answer);
    expect(await sessions.inject(by('anna'), annasKey, words)).toEqual(answer);
  });

  test('watches a conversation until it is forgotten', async () => {
    const sessions = openSessions();
    const seen = watch(sessions, 'anna', annasKey);
    await watching(1);
    await say('anna', 'hello');
    await expect.poll(seen.types).toEqual(['begin', 'delta', 'segment', 'end']);
    await say('anna', '/new');
    await expect.poll(() => seen.ends).toEqual(['not_found']);
    await watching(0);
    await say('bo', 'hello');
    expect(seen.seen()).not.toContain('"text":"/new"},{"type"');
  });

  test('sends no frame after a watch was stopped', async () => {
    const sessions = openSessions();
    const seen = watch(sessions, 'anna', annasKey);
    await watching(1);
    seen.stop();
    await watching(0);
    await say('anna', 'hello');
    expect([seen.frames, seen.ends]).toEqual([[], []]);
  });

  test('resumes a watch after the last frame when the link reconnects', async () => {
    const sessions = openSessions();
    const seen = watch(sessions, 'anna', annasKey);
    await watching(1);
    await say('anna', 'one');
    await expect.poll(() => seen.types().length).toBe(4);
    await link.close();
    await watching(0);
    await say('anna', 'two');
    link = await openLinkServer(core.context, file);
    await expect.poll(() => seen.types().length, { timeout: 10_000 }).toBe(8);
    expect(seen.types()).toEqual(['begin', 'delta', 'segment', 'end', 'begin', 'delta', 'segment', 'end']);
    expect(seen.frames.at(-1)).toMatchObject({ text: 'two' });
  });
});

test('many long pages requested at once are all delivered', async () => {
  for (let n = 0; n < 4; n++) await say('anna', `${n} ${'long '.repeat(60_000)}`);
  const sessions = openSessions();
  const pages = await Promise.all(Array.from({ length: 12 }, () => sessions.history(by('anna'), annasKey)));
  expect(pages.map(({ messages }) => messages.length)).toEqual(pages.map(() => 10));
  expect(JSON.stringify(pages[0]).length).toBeGreaterThan(1_000_000);
});

test('64 requests may wait on a link, and further ones are rejected', async () => {
  const sessions = openSessions();
  const { promise: isRead, resolve: letGo } = Promise.withResolvers<void>();
  const reading = core.context.db.transaction(() => isRead);
  const refused: string[] = [];
  const refuse = ({ code }: { code: string }) => void refused.push(code);
  const pages = Array.from({ length: 100 }, () => sessions.list(by('anna')).catch(refuse));
  await expect.poll(() => refused).toEqual(Array.from({ length: 36 }, () => 'queue_full'));
  letGo();
  await reading;
  expect((await Promise.all(pages)).filter((page) => page !== undefined)).toHaveLength(64);
});

describe('rights of a sender over the link', () => {
  const every = ['history', 'forget', 'abort', 'inject', 'watch'] as const;
  const codeOf = async (sessions: Sessions, op: (typeof every)[number], raw_id: string, key: string): Promise<string> => {
    if (op === 'watch') {
      const seen = watch(sessions, raw_id, key);
      await expect.poll(() => seen.ends.length).toBe(1);
      return seen.ends[0] ?? '';
    }
    const asked = op === 'inject' ? sessions.inject(by(raw_id), key, { text: 'x' }) : sessions[op](by(raw_id), key);
    return asked.then(
      () => 'done',
      ({ code }: { code: string }) => code,
    );
  };

  test('cover no conversation of another person; a denied sender has none at all', async () => {
    const sessions = openSessions();
    for (const op of every) {
      expect([op, await codeOf(sessions, op, 'anna', bosKey)]).toEqual([op, 'forbidden']);
      expect([op, await codeOf(sessions, op, 'stranger', bosKey)]).toEqual([op, 'no_access']);
      expect([op, await codeOf(sessions, op, 'anna', 'shop:s1:user:none')]).toEqual([op, 'not_found']);
    }
    await expect(sessions.list(by('stranger'))).rejects.toMatchObject({ code: 'no_access' });
    expect((await core.context.sessions.read(bosKey))?.turns).toBe(1);
  });

  test('let a guest read their conversation, but not forget, abort or inject', async () => {
    const sessions = openSessions();
    for (const op of ['forget', 'abort', 'inject'] as const)
      expect([op, await codeOf(sessions, op, 'gus', 'shop:s1:user:gus')]).toEqual([op, 'forbidden']);
    expect((await sessions.history(by('gus'), 'shop:s1:user:gus')).messages).toHaveLength(2);
  });

  test('end a watch when its sender loses access', async () => {
    const seen = watch(openSessions(), 'anna', annasKey);
    await watching(1);
    await core.app.inject({ method: 'DELETE', url: '/trust/principals/anna' });
    await expect.poll(() => seen.ends).toEqual(['no_access']);
    await watching(0);
  });

  test('end a watch without frames when its sender loses access', async () => {
    const sessions = openSessions();
    const [ofAnna, ofBo] = [annasKey, 'shop:s1:user:none'].map((key) => watch(sessions, 'anna', key, { frames: false }));
    const stranger = watch(sessions, 'stranger', bosKey, { frames: false });
    await expect.poll(() => stranger.ends).toEqual(['no_access']);
    await say('anna', 'hello');
    expect([ofAnna?.types(), ofAnna?.ends, ofBo?.ends]).toEqual([[], [], []]);
    await core.app.inject({ method: 'PATCH', url: '/trust/principals/anna', payload: { status: 'disabled' } });
    await expect.poll(() => [ofAnna?.ends, ofBo?.ends]).toEqual([['no_access'], ['no_access']]);
  });

  test('end a watch when the grant that permitted it expires', async () => {
    const payload = { role_id: 'owner', expires_at: Date.now() + 2_000 };
    expect((await core.app.inject({ method: 'POST', url: '/trust/principals/gus/grants', payload })).statusCode).toBe(200);
    const sessions = openSessions();
    const [own, others] = ['shop:s1:user:gus', annasKey].map((key) => watch(sessions, 'gus', key));
    await watching(2);
    await expect.poll(() => others?.ends, { timeout: 15_000 }).toEqual(['forbidden']);
    expect(own?.ends).toEqual([]);
  });
});

describe('a hostile connector', () => {
  test.each([
    ['another channel’s conversation as the owner', 'boss', elsewhere],
    ['another instance’s conversation as the owner', 'boss', 'shop:s2:user:anna'],
    ['a key that only begins alike', 'boss', 'shop:s1'],
    ['a key that begins with more', 'boss', 'shop:s10:user:anna'],
  ])('that requests %s is rejected and reported', async (_what, raw_id, key) => {
    await core.handle({ ...by('anna'), conversation_key: key, content: { text: 'private words' } });
    const sessions = openSessions();
    await expect(sessions.history(by(raw_id), key)).rejects.toMatchObject({ code: 'forbidden' });
    const seen = watch(sessions, raw_id, key);
    await expect.poll(() => seen.ends).toEqual(['forbidden']);
    expect(core.telemetry.events).toContainEqual(
      expect.objectContaining({
        instance_id: 's1',
        payload: { what: 'impersonation', claim: { what: 'conversation', name: key } },
      }),
    );
    expect((await sessions.list(by(raw_id))).sessions.map(({ conversation_key }) => conversation_key)).not.toContain(key);
  });

  test('that names a sender of another channel is rejected and reported', async () => {
    const sessions = openSessions('every');
    for (const channel of ['compat', 'shell', 'web', 'query'])
      await expect(sessions.list(by('owner', channel))).rejects.toMatchObject({ code: 'forbidden' });
    expect(core.telemetry.events).toContainEqual(
      expect.objectContaining({ payload: { what: 'impersonation', claim: { what: 'channel', name: 'shell' } } }),
    );
  });

  test('cannot begin a watch before it has sent its pass', async () => {
    const socket = connect(file);
    onTestFinished(() => void socket.destroy());
    const request = { op: 'watch', id: 1, as: by('boss'), conversation_key: annasKey };
    socket.write(`${JSON.stringify(request)}\n`);
    expect(JSON.parse((await readLines(socket, 1))[0]!)).toMatchObject({ id: 1, error: { error: 'unauthorized' } });
  });

  test('is limited to 2048 watches, and each malformed request is rejected', async () => {
    const socket = await linked();
    const line = (fields: object) =>
      `${JSON.stringify({ op: 'watch', as: by('boss'), conversation_key: annasKey, ...fields })}\n`;
    for (let id = 1; id <= 10_000; id++) socket.write(line({ id }));
    await expect.poll(() => core.context.watches.counts().watchers, { timeout: 20_000 }).toBe(2048);
    socket.destroy();
    await watching(0);
    const other = await linked();
    const bad = [
      { id: 1, after: -1 },
      { id: 2, after: 1e300 },
      { id: 3, after: '1' },
      { id: 4, conversation_key: 'a\n' },
      { id: 5, conversation_key: 'x'.repeat(600) },
      { id: 6, as: {} },
      { id: 7, as: { channel: 'shop', sender: {} } },
      { id: 8, as: [] },
      { id: 9, op: 'inject' },
      { id: 10, op: 'history', limit: 0 },
      { id: 11, op: 'sessions', before: 7 },
      { id: 12, op: 'watch', envelope: {} },
    ];
    other.write(bad.map(line).join(''));
    const replies = (await readLines(other, bad.length)).map((reply) => JSON.parse(reply) as LinkReply);
    expect(replies).toMatchObject(bad.map(({ id }) => ({ id, error: { error: 'bad_request' } })));
  });
});

describe('a connector type that may show every conversation', () => {
  test('shows those of other channels to owners only', async () => {
    const sessions = openSessions('every');
    expect((await sessions.list(by('boss'))).sessions.map(({ conversation_key }) => conversation_key)).toContain(elsewhere);
    expect((await sessions.history(by('boss'), elsewhere)).messages[0]).toMatchObject({ text: 'private words' });
    const seen = watch(sessions, 'boss', elsewhere);
    await watching(1);
    await core.handle(envelope('more', { conversation_key: elsewhere }));
    await expect.poll(seen.types).toEqual(['begin', 'delta', 'segment', 'end']);
    expect((await sessions.list(by('anna'))).sessions.map(({ conversation_key }) => conversation_key)).toEqual([annasKey]);
    await expect(sessions.history(by('anna'), elsewhere)).rejects.toMatchObject({ code: 'forbidden' });
  });
});

test('a watcher that pauses reading gets its frames later, and turns are answered meanwhile', async () => {
  const socket = await linked();
  socket.write(`${JSON.stringify({ op: 'watch', id: 1, as: by('anna'), conversation_key: annasKey })}\n`);
  await readLines(socket, 1);
  socket.pause();
  const long = 'x'.repeat(60_000);
  core.engine.script(async function* () {
    yield* says(long);
  });
  for (let n = 0; n < 40; n++) await say('anna', 'more');
  const lines = createInterface({ input: socket });
  const types: string[] = [];
  for await (const line of lines) {
    const reply = JSON.parse(line) as LinkReply;
    if ('seen' in reply) types.push(reply.seen.type);
    if (
      types.length > 0 &&
      types.at(-1) === 'end' &&
      types.filter((type) => type === 'end').length >= 1 &&
      !socket.readableLength
    )
      break;
  }
  expect(types).toContain('end');
  expect(socket.destroyed).toBe(false);
});

async function linked(): Promise<Socket> {
  const socket = connect(file);
  onTestFinished(() => void socket.destroy());
  socket.write(`${JSON.stringify({ op: 'hello', id: 0, pass: passOf() })}\n`);
  await once(socket, 'connect');
  return socket;
}

async function readLines(socket: Socket, count: number): Promise<string[]> {
  const found: string[] = [];
  let rest = '';
  while (found.length < count) {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) {
      await Promise.race([once(socket, 'readable'), once(socket, 'end')]);
      if (socket.readableEnded) break;
      continue;
    }
    const parts = (rest + chunk.toString()).split('\n');
    rest = parts.pop() ?? '';
    found.push(...parts);
  }
  return found;
}
