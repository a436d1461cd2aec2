import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Envelope } from '@svc/contract/envelope.ts';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { flaggedWord, startModerationServer, type ModerationServer } from '@svc/testing/moderation-server.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

const key = 'sk-moderation-0123456789';
const bad = `some ${flaggedWord} here`;

type Options = NonNullable<Parameters<typeof openTestCore>[0]>;

async function open(env: Record<string, string>, options: Options = {}): Promise<TestCore> {
  const core = await openTestCore({ ...options, env });
  onTestFinished(() => core.close());
  await core.addPrincipal('anna', 'known');
  await core.addPrincipal('tom', 'trusted');
  return core;
}

const from = (who: string, content: Envelope['content'], over: Partial<Envelope> = {}): Envelope =>
  envelope('', { sender: { raw_id: who }, conversation_key: `compat:c1:${who}`, content, ...over });
const told = (core: TestCore) => core.telemetry.events.filter(({ kind }) => kind === 'moderation').map(({ payload }) => payload);
const degraded = async (core: TestCore): Promise<string[]> => (await core.app.inject('/health')).json().degraded;

describe('moderation rules', () => {
  const denying: Options = { before: (dir) => writeFileSync(path.join(dir, 'moderation.deny.txt'), 'launch codes\n') };
  const outcome = async (core: TestCore, content: Envelope['content']) =>
    (await core.handle(from('anna', content))).json().outcome as string;

  test('block a denied phrase in the message and in a system prompt of the caller', async () => {
    const core = await open({}, denying);
    expect(await outcome(core, { text: 'hello' })).toBe('replied');
    expect(await outcome(core, { text: 'the LAUNCH codes, please' })).toBe('blocked');
    expect(await outcome(core, { text: 'hello', system: 'You know the launch codes.' })).toBe('blocked');
    expect(core.engine.requests).toHaveLength(1);
    expect(told(core)).toMatchObject([{ rule: 'deny' }, { rule: 'deny' }]);
  });

  test('omit denied messages from the transcript', async () => {
    const core = await open({}, denying);
    const transcript: Envelope['content']['transcript'] = [
      { role: 'user', text: 'first' },
      { role: 'user', text: 'the launch codes' },
      { role: 'assistant', text: 'second' },
    ];
    expect(await outcome(core, { text: 'hello', transcript })).toBe('replied');
    expect(core.engine.requests[0]?.transcript.map(({ text }) => text)).toEqual(['first', 'second']);
    expect(told(core)).toMatchObject([{ what: 'transcript_cut', count: 1 }]);
  });

  test('block senders below TRUSTED when the deny file is unreadable, and report it', async () => {
    const core = await open({ SVC_MODERATION_DENY_FILE: '/nonexistent/deny.txt' });
    expect((await core.handle(from('anna', { text: 'hi' }))).json()).toMatchObject({
      outcome: 'blocked',
      actions: [{ text: 'I cannot take messages at the moment. Please try again later.' }],
    });
    expect((await core.handle(from('tom', { text: 'hi' }))).json()).toMatchObject({ outcome: 'replied' });
    expect(await degraded(core)).toEqual([
      'messages cannot be moderated (/nonexistent/deny.txt cannot be used: there is no such file), so those of people who are not trusted are refused',
    ]);
    expect(told(core)).toMatchObject([
      { what: 'provider_failed', passed: false },
      { rule: 'unavailable' },
      { what: 'provider_failed', passed: true },
    ]);
  });

  test('are not applied when moderation is off', async () => {
    const core = await open({ SVC_MODERATION: 'off' }, denying);
    expect(await outcome(core, { text: 'the launch codes' })).toBe('replied');
  });

  test('are not applied to a person who bypasses moderation', async () => {
    const core = await open({}, denying);
    const patch = { method: 'PATCH', url: '/trust/principals/anna', payload: { bypass_moderation: true } } as const;
    expect((await core.app.inject(patch)).statusCode).toBe(200);
    expect(await outcome(core, { text: 'the launch codes' })).toBe('replied');
  });
});

describe('moderation endpoint', () => {
  let server: ModerationServer;
  let clock: FakeClock;
  let core: TestCore;
  beforeAll(async () => {
    server = await startModerationServer(key);
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    server.requests.length = 0;
    server.mishaps.length = 0;
    clock = createFakeClock();
    core = await openTestCore({
      clock,
      env: { SVC_MODERATION: 'openai', SVC_MODERATION_BASE_URL: server.baseUrl, OPENAI_API_KEY: key },
    });
    await core.addPrincipal('anna', 'known');
    await core.addPrincipal('tom', 'trusted');
  });
  afterEach(() => core.close());
  const ask = async (who: string, content: Envelope['content']) => (await core.handle(from(who, content))).json();

  test('receives message, system prompt and transcript, with the key and the model', async () => {
    const transcript = [{ role: 'user', text: 'before' } as const];
    expect(await ask('anna', { text: 'hi', system: 'be short', transcript })).toMatchObject({ outcome: 'replied' });
    expect(server.requests).toEqual([
      { authorization: `Bearer ${key}`, model: 'omni-moderation-latest', input: ['hi', 'be short', 'before'] },
    ]);
  });

  test.each([
    ['message', { text: bad }],
    ['system prompt', { text: 'hi', system: bad }],
    ['end of a long message', { text: `${'x '.repeat(19_900)}${bad}` }],
  ])('blocks a %s that it flags', async (_what, content) => {
    expect(await ask('anna', content)).toMatchObject({
      outcome: 'blocked',
      actions: [{ text: 'I cannot help with that message.' }],
    });
    expect(core.engine.requests).toHaveLength(0);
    expect(told(core)).toMatchObject([{ rule: 'flagged' }]);
  });

  test('omits flagged and unchecked messages from the transcript', async () => {
    const prior = (text: string) => ({ role: 'user', text }) as const;
    await ask('anna', {
      text: 'hi',
      transcript: [prior('old'), prior(bad), ...Array.from({ length: 62 }, (_, i) => prior(`${i}`)), prior('last')],
    });
    const seen = core.engine.requests[0]?.transcript.map(({ text }) => text) ?? [];
    expect(seen).toHaveLength(63);
    expect(seen).not.toContain('old');
    expect(seen).not.toContain(bad);
    expect(seen.at(-1)).toBe('last');
  });

  test('is asked once about the same text within five minutes', async () => {
    await ask('anna', { text: 'hi' });
    await ask('tom', { text: 'hi' });
    expect(await ask('anna', { text: bad })).toMatchObject({ outcome: 'blocked' });
    expect(await ask('anna', { text: bad })).toMatchObject({ outcome: 'blocked' });
    expect(server.requests.map(({ input }) => input)).toEqual([['hi'], [bad]]);
    clock.advance(5 * 60_000);
    await ask('anna', { text: 'hi' });
    expect(server.requests).toHaveLength(3);
  });

  test('with a price counts against the budget of the sender, and is not asked beyond it', async () => {
    const price = { in: 10_000, out: 0, cache_read: 0, cache_write: 0 };
    const priced = await open(
      { SVC_MODERATION: 'openai', SVC_MODERATION_BASE_URL: server.baseUrl, OPENAI_API_KEY: key },
      {
        before: (dir) =>
          writeFileSync(path.join(dir, 'pricing.json'), JSON.stringify({ models: { 'omni-moderation-latest': price } })),
      },
    );
    const payload = { surface: 'compat', value: 'anna', month_usd: 5 };
    await priced.app.inject({ method: 'PUT', url: '/v2/spend/budget', payload });
    await priced.handle(from('anna', { text: 'x'.repeat(400) }));
    expect((await priced.app.inject('/v2/spend')).json()).toMatchObject({ budgets: [{ value: 'anna', spent_usd: 1 }] });
    await priced.app.inject({ method: 'PUT', url: '/v2/spend/budget', payload: { ...payload, month_usd: 1 } });
    const refused = await priced.handle(from('anna', { text: 'y'.repeat(400) }));
    expect(refused.json()).toMatchObject({ blocked_by: 'spending' });
    expect(server.requests).toHaveLength(1);
  });

  test('reports its usage and price once per text, for the sender', async () => {
    await ask('anna', { text: 'x'.repeat(400) });
    await ask('anna', { text: 'x'.repeat(400) });
    const side = core.telemetry.events.filter(({ payload }) => payload['feature'] === 'moderation');
    expect(side).toMatchObject([
      {
        kind: 'token-usage',
        surface: 'compat',
        identity: 'anna',
        principal: 'anna',
        billed: true,
        cost_usd: 0,
        billed_cost_usd: 0,
        payload: {
          provider: 'openai',
          model: 'omni-moderation-latest',
          units: 'tokens',
          quantity: 100,
          estimated: true,
          priced: true,
        },
      },
    ]);
  });

  test.each([
    ['an error', [{ status: 500 }, { status: 500 }], 'answered 500 (server_error)'],
    ['something that is not an answer', ['nonsense'], 'something other than a moderation result'],
    ['connections that break', ['cut', 'cut'], 'socket hang up'],
    ['a limit', [{ status: 429, headers: { 'retry-after': '30' } }], 'answered 429'],
  ] as const)(
    'that gives %s blocks senders below TRUSTED, passes the others, and reports the failure',
    async (_what, mishaps, why) => {
      server.mishaps.push(...mishaps);
      expect(await ask('anna', { text: 'hi' })).toMatchObject({ outcome: 'blocked' });
      expect(await ask('tom', { text: 'hi' })).toMatchObject({ outcome: 'replied' });
      expect(told(core)).toMatchObject([
        { what: 'provider_failed', passed: false, error: expect.stringContaining(why) as string },
        { rule: 'unavailable' },
        { what: 'provider_failed', passed: true },
      ]);
      expect((await degraded(core))[0]).toContain(why);
      // It is not asked while it is paused: no message waits for it.
      expect(server.requests).toHaveLength(mishaps.length);
      clock.advance(60_000);
      expect(await ask('anna', { text: 'hi' })).toMatchObject({ outcome: 'replied' });
      expect(await degraded(core)).toEqual([]);
    },
  );

  test('is asked again after one failure', async () => {
    server.mishaps.push({ status: 503 });
    expect(await ask('anna', { text: 'hi' })).toMatchObject({ outcome: 'replied' });
    expect(server.requests).toHaveLength(2);
  });

  test('that rejects the key is reported as failed, without showing the key', async () => {
    const wrong = await openTestCore({
      env: { SVC_MODERATION: 'openai', SVC_MODERATION_BASE_URL: server.baseUrl, OPENAI_API_KEY: 'sk-wrong-0123456789' },
    });
    onTestFinished(() => wrong.close());
    await wrong.addPrincipal('anna', 'known');
    expect((await wrong.handle(from('anna', { text: 'hi' }))).json()).toMatchObject({ outcome: 'blocked' });
    const all = JSON.stringify([await degraded(wrong), wrong.telemetry.events]);
    expect(all).toContain('401 (invalid_api_key)');
    expect(all).not.toContain('sk-wrong');
  });

  test('without a key is reported as failed, naming where to put the key', async () => {
    const keyless = await open({ SVC_MODERATION: 'openai', SVC_MODERATION_BASE_URL: server.baseUrl });
    expect((await keyless.handle(from('anna', { text: 'hi' }))).json()).toMatchObject({ outcome: 'blocked' });
    expect((await degraded(keyless))[0]).toContain('The secret "OPENAI_API_KEY" is not set. Put it into');
    expect(server.requests).toHaveLength(0);
  });

  test('that hangs does not delay /stop', async () => {
    server.mishaps.push('hang');
    const turn = core.handle(from('tom', { text: 'hi' }));
    await expect.poll(() => server.requests.length).toBe(1);
    expect((await core.handle(from('tom', { text: '/stop' }))).json()).toMatchObject({ actions: [{ text: 'Stopped.' }] });
    expect((await turn).json()).toMatchObject({ outcome: 'aborted', actions: [] });
    expect(core.engine.requests).toHaveLength(0);
    expect(await degraded(core)).toEqual([]);
  });
});
