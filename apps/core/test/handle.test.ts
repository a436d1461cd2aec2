import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { HandleResult } from '@svc/contract/turn.ts';
import { answering, says, workingUntilAborted } from '@svc/testing/scripted-engine.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

let core: TestCore;
beforeEach(async () => {
  core = await openTestCore();
});
afterEach(() => core.close());

/** The frames of a streamed turn, parsed from the wire. */
async function stream(text: string) {
  const response = await core.app.inject({
    method: 'POST',
    url: '/v2/handle',
    headers: { accept: 'text/event-stream' },
    payload: envelope(text),
  });
  const frames = response.body.split('\n\n').filter((frame) => frame.startsWith('event: '));
  return frames.map((frame) => JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? 'null') as Record<string, unknown>);
}

describe('a turn', () => {
  test('answers with one reply action', async () => {
    const response = await core.handle(envelope('hello'));
    expect(response.statusCode).toBe(200);
    expect(response.json()).toMatchObject({ actions: [{ type: 'reply', text: 'hello' }], outcome: 'replied' });
  });

  test('streams its text, then one result', async () => {
    core.engine.script(answering('one ', 'two'));
    const frames = await stream('go');
    expect(frames.map((frame) => frame['type'])).toEqual(['delta', 'segment', 'result']);
    expect(frames.at(-1)).toMatchObject({ result: { actions: [{ type: 'reply', text: 'one two' }] } });
  });

  test('that takes longer than a second reports when it began, by the time of day', async () => {
    const clock = createFakeClock();
    const slow = await openTestCore({ clock });
    onTestFinished(() => slow.close());
    slow.engine.script(async function* () {
      clock.advance(1000);
      yield* says('At last.');
    });
    const begun = clock.now();
    await slow.handle(envelope('hello'));
    const turns = slow.telemetry.events.filter(({ kind }) => kind === 'turn');
    expect(turns).toMatchObject([
      { payload: { what: 'started', at: begun } },
      { payload: { what: 'ended', outcome: 'replied', ms: 1000 } },
    ]);
  });

  test('runs the steps in order and reports each', async () => {
    await core.handle(envelope('hello'));
    expect(core.kinds()).toEqual(['inbound', 'token-usage', 'outbound']);
    const ids = new Set(core.telemetry.events.map((event) => event.request_id));
    expect(ids.size).toBe(1);
  });

  test('names the person in each event of thinking, tools and notices', async () => {
    core.engine.script(async function* () {
      yield { type: 'thinking', text: 'Let me see.' };
      yield { type: 'tool', id: 't1', name: 'clock', input: {} };
      yield { type: 'tool_result', id: 't1', ok: true, output: 'noon' };
      yield { type: 'notice', code: 'retry', message: 'The model is asked again.' };
      yield* says('done');
    });
    await core.handle(envelope('hello'));
    const kinds = ['thinking', 'tool', 'tool_result', 'engine'];
    const events = core.telemetry.events.filter(({ kind }) => kinds.includes(kind));
    expect(new Set(events.map(({ kind, principal }) => `${kind} ${principal}`))).toEqual(
      new Set(kinds.map((kind) => `${kind} owner`)),
    );
  });

  test('joins blocks of text the same way in the stream and in the reply', async () => {
    core.engine.script(async function* () {
      yield { type: 'delta', text: 'Let me look.' };
      yield { type: 'segment', text: 'Let me look.' };
      yield { type: 'tool', id: 't1', name: 'clock', input: {} };
      yield { type: 'tool_result', id: 't1', ok: true, output: 'noon' };
      yield* says('It is noon.');
    });
    const frames = await stream('go');
    const deltas = frames.filter((frame) => frame['type'] === 'delta').map((frame) => frame['text']);
    expect(deltas.join('')).toBe('Let me look.\n\nIt is noon.');
    expect(frames.at(-1)).toMatchObject({ result: { actions: [{ text: 'Let me look.\n\nIt is noon.' }] } });
    expect(frames.map((frame) => frame['type'])).toContain('tool_result');
  });

  test('answers 400 and names every bad field', async () => {
    const response = await core.app.inject({ method: 'POST', url: '/v2/handle', payload: { channel: 'Bad', content: {} } });
    expect(response.statusCode).toBe(400);
    const fields = response.json<{ fields: { field: string }[] }>().fields.map(({ field }) => field);
    expect(fields).toEqual(expect.arrayContaining(['body.channel', 'body.conversation_key', 'body.sender', 'body.content.text']));
  });

  test.each(['trust_tier', 'principal', 'bypass_moderation', 'identity'])('[P04] ignores a self-declared %s', async (field) => {
    const response = await core.handle({ ...envelope('hi', { sender: { raw_id: 'stranger' } }), [field]: 'SACRED' });
    expect(response.json()).toMatchObject({ outcome: 'denied' });
  });

  test('accepts JSON only as application/json', async () => {
    const response = await core.app.inject({
      method: 'POST',
      url: '/v2/handle',
      headers: { 'content-type': 'text/plain' },
      payload: JSON.stringify(envelope('hi')),
    });
    expect(response.statusCode).toBe(415);
    expect(core.engine.requests).toHaveLength(0);
  });

  test('returns an engine failure with its code, and the next turn works', async () => {
    core.engine.script(async function* () {
      yield {
        type: 'failed',
        failure: { code: 'engine_rate_limited', message: 'Wait an hour.', retryable: true, retryAfterMs: 3_600_000 },
      };
    });
    const failed = await core.handle(envelope('hi'));
    expect(failed.statusCode).toBe(429);
    expect(failed.headers['retry-after']).toBe('3600');
    expect(failed.json()).toMatchObject({ ok: false, error: 'engine_rate_limited', message: 'Wait an hour.' });
    core.engine.script(answering('fine'));
    expect((await core.handle(envelope('hi'))).json()).toMatchObject({ outcome: 'replied' });
  });

  test.each([
    ['throws', () => Promise.reject(new Error('boom'))],
    ['ends without a word', () => Promise.resolve({ done: true as const, value: undefined })],
  ])('[P10] an engine that %s fails the turn and frees the conversation', async (_name, next) => {
    core.engine.script(() => ({ [Symbol.asyncIterator]: () => ({ next }) }));
    expect((await core.handle(envelope('hi'))).statusCode).toBeGreaterThanOrEqual(500);
    core.engine.script(answering('fine'));
    expect((await core.handle(envelope('hi'))).statusCode).toBe(200);
    expect(core.context.pipeline.counts()).toEqual({ running: 0, waiting: 0 });
  });
});

describe('access', () => {
  test('[P01] a sender who is not a principal is denied: no engine call, no session', async () => {
    const response = await core.handle(envelope('hi', { sender: { raw_id: 'stranger', raw_username: 'owner' } }));
    expect(response.json()).toMatchObject({ actions: [{ type: 'reply', text: 'no access' }], outcome: 'denied' });
    expect(core.engine.requests).toHaveLength(0);
    expect((await core.app.inject('/v2/session/compat:c1:key')).statusCode).toBe(404);
  });

  test('[P01] a stranger on a public channel gets no reply', async () => {
    const response = await core.handle(envelope('hi', { sender: { raw_id: 'stranger' }, public: true }));
    expect(response.json()).toMatchObject({ actions: [], outcome: 'denied' });
  });

  test("[P05] a look-alike of a principal's id is a stranger", async () => {
    for (const raw_id of ['Owner', 'owner ', 'own\u200ber', '__proto__', 'constructor']) {
      expect((await core.handle(envelope('hi', { sender: { raw_id } }))).json()).toMatchObject({ outcome: 'denied' });
    }
  });

  test('trust is capped on a public channel', async () => {
    await core.handle(envelope('hi', { public: true }));
    expect(core.engine.requests[0]?.facts.tier).toBe('TRUSTED');
  });

  test('the tool policy of the role reaches the engine', async () => {
    await core.addPrincipal('gast', 'guest');
    await core.handle(envelope('hi', { sender: { raw_id: 'gast' }, conversation_key: 'compat:c1:gast' }));
    expect(core.engine.requests[0]?.toolPolicy).toBe('none');
  });

  test('a malformed trust seed denies everyone and degrades /health', async () => {
    const broken = await openTestCore({
      before: (dir) => writeFileSync(path.join(dir, 'trust.seed.json'), '{"principals": [{}]}'),
    });
    expect((await broken.handle(envelope('hi'))).json()).toMatchObject({ outcome: 'denied' });
    expect((await broken.app.inject('/health')).json()).toMatchObject({ status: 'degraded' });
    await broken.close();
  });

  test('a trust seed file adds its principals', async () => {
    const seed = { principals: [{ key: 'anna', role: 'known', identifiers: [{ surface: 'compat', value: 'anna' }] }] };
    const seeded = await openTestCore({
      before: (dir) => writeFileSync(path.join(dir, 'trust.seed.json'), JSON.stringify(seed)),
    });
    expect((await seeded.handle(envelope('hi', { sender: { raw_id: 'anna' } }))).json()).toMatchObject({ outcome: 'replied' });
    await seeded.close();
  });
});

describe('silence', () => {
  test('[P08] a reply that ends with the marker is retracted and not posted, but counted', async () => {
    core.engine.script(answering('well ', '[[NO_', 'REPLY]]'));
    const frames = await stream('hi');
    expect(frames.map((frame) => frame['type'])).toEqual(['delta', 'segment', 'retract', 'result']);
    expect(JSON.stringify(frames)).not.toContain('[[NO');
    expect(frames.at(-1)).toMatchObject({ result: { actions: [], outcome: 'silent' } });
    expect(core.kinds()).toContain('token-usage');
    expect(core.kinds()).not.toContain('outbound');
  });

  test('[L03] an aborted turn is silent, keeps the engine session, and frees the conversation', async () => {
    const aborted = core.handle(envelope('work'));
    core.engine.script(workingUntilAborted('so far'));
    await expect.poll(() => core.context.pipeline.counts().running).toBe(1);
    await expect
      .poll(async () => (await core.app.inject('/v2/session/compat:c1:key')).json())
      .toMatchObject({
        state: 'running',
        engine_session_id: 's-1',
      });
    const answer = await core.app.inject({ method: 'POST', url: '/v2/abort', payload: { conversation_key: 'compat:c1:key' } });
    expect(answer.json()).toEqual({ ok: true, aborted: 'compat:c1:key' });
    expect((await aborted).json()).toMatchObject({ actions: [], outcome: 'aborted' });
    expect((await core.app.inject('/v2/session/compat:c1:key')).json()).toMatchObject({
      state: 'idle',
      engine_session_id: 's-1',
    });
    core.engine.script(answering('fine'));
    expect((await core.handle(envelope('hi'))).json()).toMatchObject({ outcome: 'replied' });
  });

  test('[L02] abort of a session with nothing in flight answers 404', async () => {
    const answer = await core.app.inject({ method: 'POST', url: '/v2/abort', payload: { conversation_key: 'compat:c1:key' } });
    expect(answer.statusCode).toBe(404);
  });
});

describe('redaction', () => {
  const secret = 'sk-live-0123456789abcdef';

  test('masks a known secret in the reply, thinking, tools and events, wherever it is split', async () => {
    writeFileSync(path.join(core.folder, 'secrets.json'), JSON.stringify({ SERVICE: secret }), { mode: 0o600 });
    for (let cut = 1; cut < secret.length; cut += 5) {
      core.engine.script(async function* () {
        yield { type: 'thinking', text: `I know ${secret.slice(0, cut)}` };
        yield { type: 'thinking', text: `${secret.slice(cut)}.` };
        yield { type: 'tool', id: 't', name: 'send', input: { [secret]: [secret] } };
        yield { type: 'tool_result', id: 't', ok: true, output: `sent ${secret}` };
        yield { type: 'notice', code: 'other', message: secret };
        yield* says(`It is ${secret.slice(0, cut)}`, `${secret.slice(cut)}.`);
      });
      const frames = await stream(`my key is ${secret}`);
      expect(JSON.stringify(frames)).not.toContain(secret);
      expect(frames.at(-1)).toMatchObject({ result: { actions: [{ text: 'It is [redacted:secret].' }] } });
      expect(JSON.stringify(core.telemetry.events)).not.toContain(secret);
    }
    expect(core.engine.requests[0]?.text).toContain(secret);
  });

  test('masks token-like text everywhere, and email and IP addresses on a public channel', async () => {
    core.engine.script(async function* () {
      yield* says('Use ghp_A1b2C3d4E5f6G7h8I9j0', 'K1l2M3n4O5p6Q7r8, or ask joe@acme.io at 192.168', '.1.20');
    });
    const told = async (extra: object) => JSON.stringify((await core.handle(envelope('hi', extra))).json());
    expect(await told({})).toContain('Use [redacted:token], or ask joe@acme.io at 192.168.1.20');
    expect(await told({ public: true })).toContain('Use [redacted:token], or ask [redacted:email] at [redacted:ip]');
  });

  test('without a readable list of secrets turns fail, and /health is degraded', async () => {
    writeFileSync(path.join(core.folder, 'secrets.json'), 'not JSON');
    core.context.events.service('started');
    expect((await core.handle(envelope('hi'))).statusCode).toBe(500);
    expect((await core.app.inject('/health')).json()).toMatchObject({ status: 'degraded' });
  });
});

describe('sessions', () => {
  test('the same key resumes the same engine session', async () => {
    await core.handle(envelope('one'));
    await core.handle(envelope('two'));
    expect(core.engine.requests.map((request) => request.resume)).toEqual([null, 's-compat:c1:key']);
    expect((await core.app.inject('/v2/session/compat:c1:key')).json()).toMatchObject({
      turns: 2,
      instance_id: 'c1',
      surface: 'compat',
    });
  });

  test('the transcript of the channel is given to the engine for a new session only', async () => {
    const transcript = [{ role: 'user' as const, text: 'earlier' }];
    await core.handle(envelope('one', { content: { text: 'one', transcript } }));
    await core.handle(envelope('two', { content: { text: 'two', transcript } }));
    expect(core.engine.requests.map((request) => request.transcript)).toEqual([transcript, []]);
  });

  test.each([
    [{ channelId: 'c', chatId: 'd', target: 'e' }, 'c'],
    [{ chatId: 42, target: 'e' }, '42'],
    [{ target: 'e' }, 'e'],
    [{ channelId: '', chatId: ' ', target: 'e' }, 'e'],
    [{ channelId: { id: 'c' }, chatId: false, target: 'e' }, 'e'],
    [{ channelId: '', chatId: null, target: 'e' }, 'e'],
    [{ channelId: 0, chatId: 'd' }, '0'],
    [{}, null],
  ])('the outbound target of %j is %s', async (channel_context, outbound_target) => {
    await core.handle(envelope('hi', { channel_context }));
    expect((await core.app.inject('/v2/session/compat:c1:key')).json()).toMatchObject({
      outbound_target,
      outbound_instance_id: 'c1',
    });
  });

  test.each(['a:b', 'a/b', 'a%b', 'a b', '😀', 'ü'])('[L10] a key such as %s works in a URL', async (part) => {
    const key = `compat:c1:${part}`;
    await core.handle(envelope('hi', { conversation_key: key }));
    const response = await core.app.inject(`/v2/session/${encodeURIComponent(key)}`);
    expect(response.json()).toMatchObject({ conversation_key: key });
  });

  test('answers 404 for an unknown or forgotten session', async () => {
    expect((await core.app.inject('/v2/session/nobody')).statusCode).toBe(404);
    await core.handle(envelope('hi'));
    expect((await core.app.inject({ method: 'DELETE', url: '/v2/session/compat:c1:key' })).statusCode).toBe(200);
    expect((await core.app.inject('/v2/session/compat:c1:key')).statusCode).toBe(404);
  });

  test('an observed message is context of the next turn, once', async () => {
    const observed = await core.handle(envelope('the door is open', { delivery: 'async' }));
    expect(observed.json()).toMatchObject({ actions: [], outcome: 'observed' });
    expect(core.engine.requests).toHaveLength(0);
    await core.handle(envelope('what did you see?'));
    await core.handle(envelope('and now?'));
    expect(core.engine.requests[0]?.prompt).toContain('the door is open');
    expect(core.engine.requests[1]?.prompt).not.toContain('the door is open');
  });

  test('conversations with full rights share one workspace folder', async () => {
    await core.handle(envelope('one', { conversation_key: 'compat:c1:a' }));
    await core.handle(envelope('two', { conversation_key: 'compat:c1:b' }));
    expect(new Set(core.engine.requests.map((request) => request.cwd)).size).toBe(1);
    expect(readdirSync(core.folder)).toContain('workspace');
  });
});

describe('chat commands', () => {
  test('/stop aborts the running turn at once', async () => {
    core.engine.script(workingUntilAborted());
    const working = core.handle(envelope('work'));
    await expect.poll(() => core.context.pipeline.counts().running).toBe(1);
    expect((await core.handle(envelope('/stop'))).json()).toMatchObject({ outcome: 'command', actions: [{ text: 'Stopped.' }] });
    const said = core.telemetry.events.filter(({ kind }) => kind === 'inbound');
    expect(said.map(({ text, payload }) => [text, payload?.['command'] ?? false])).toContainEqual(['/stop', true]);
    expect((await working).json()).toMatchObject({ outcome: 'aborted' });
  });

  test('/new starts a new engine session', async () => {
    await core.handle(envelope('one'));
    await core.handle(envelope('/new'));
    await core.handle(envelope('two'));
    expect(core.engine.requests.map((request) => request.resume)).toEqual([null, null]);
  });

  test('/status and /usage describe the conversation', async () => {
    await core.handle(envelope('hello'));
    expect((await core.handle(envelope('/status'))).json().actions[0].text).toContain('1 turn so far');
    expect((await core.handle(envelope(' /usage '))).json().actions[0].text).toMatch(/^1 turn, 2 tokens in, 2 tokens out/);
    expect(core.engine.requests).toHaveLength(1);
  });

  test('a command requires its tier, and a stranger is denied', async () => {
    await core.addPrincipal('gast', 'guest');
    const guest = { sender: { raw_id: 'gast' } };
    expect((await core.handle(envelope('/stop', guest))).json().actions[0].text).toBe(
      '/stop is for people who are known, and above.',
    );
    expect((await core.handle(envelope('/status', guest))).json().actions[0].text).toContain('(guest,');
    expect((await core.handle(envelope('/status', { sender: { raw_id: 'stranger' } }))).json()).toMatchObject({
      outcome: 'denied',
    });
  });

  test('/help lists the commands that the sender may use', async () => {
    await core.addPrincipal('gus', 'guest');
    const help = async (raw_id: string) =>
      (await core.handle(envelope('/help', { sender: { raw_id } }))).json<HandleResult>().actions.map(({ text }) => text);
    expect((await help('owner'))[0]).toContain('/new     begin a new conversation');
    expect((await help('gus'))[0]).toMatch(/^\/status  .*\n\/usage   .*\n\/help    .*$/);
  });

  test('other text that begins with a slash goes to the engine', async () => {
    await core.handle(envelope('/stop it now'));
    expect(core.engine.requests[0]?.text).toBe('/stop it now');
  });
});

describe('moderation', () => {
  test('blocks a message that is too long before the engine', async () => {
    const response = await core.handle(envelope('x'.repeat(100_001)));
    expect(response.json()).toMatchObject({ outcome: 'blocked' });
    expect(core.engine.requests).toHaveLength(0);
    expect((await core.app.inject('/v2/session/compat:c1:key')).statusCode).toBe(404);
  });

  test('blocks a flood of a sender below TRUSTED, but not of an owner', async () => {
    await core.addPrincipal('gast', 'guest');
    const outcomes: string[] = [];
    for (let i = 0; i < 31; i++)
      outcomes.push((await core.handle(envelope('hi', { sender: { raw_id: 'gast' } }))).json().outcome);
    expect(outcomes.filter((outcome) => outcome === 'blocked')).toHaveLength(1);
    for (let i = 0; i < 31; i++) expect((await core.handle(envelope('hi'))).json().outcome).toBe('replied');
  });
});

describe('POST /query', () => {
  const query = (payload: object) => core.app.inject({ method: 'POST', url: '/query', payload });

  test('answers, and resumes the session it returned', async () => {
    await core.addPrincipal('u1', 'known', 'query');
    const first = (await query({ message: 'hello', userId: 'u1' })).json();
    expect(first).toMatchObject({ response: 'hello' });
    await query({ message: 'again', userId: 'u1', sessionId: first.sessionId });
    expect(core.engine.requests[1]?.resume).not.toBeNull();
  });

  test('[P12] denies a stranger regardless of an API key, and records the key in no event', async () => {
    const response = await query({ message: 'hello', userId: 'x', apiKey: 'canary-key-123456' });
    expect(response.statusCode).toBe(403);
    expect(JSON.stringify(core.telemetry.events)).not.toContain('canary-key-123456');
  });
});
