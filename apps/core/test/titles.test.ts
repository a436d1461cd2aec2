import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { Session } from '@svc/contract/session.ts';
import type { EngineEvent } from '@svc/engine-kit/engine.ts';
import { createFakeClock, type FakeClock } from '@svc/testing/fake-clock.ts';
import { says, type EngineScript } from '@svc/testing/scripted-engine.ts';
import type { Turn } from '../src/turn/turn.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

const key = 'compat:c1:key';
const delayMs = 5000;
let clock: FakeClock;
let core: TestCore;
/** The engine's answer to a request for a title. */
let naming: () => Iterable<EngineEvent> | AsyncIterable<EngineEvent>;
const script: EngineScript = async function* (request) {
  if (request.purpose === 'title') return yield* naming();
  yield { type: 'session', engineSessionId: request.resume ?? 's-1', resumed: false, model: null };
  if (request.text === 'break') {
    return yield { type: 'failed', failure: { code: 'engine_failed', message: 'It broke.', retryable: false } };
  }
  yield* says(`re: ${request.text}`);
};
const open = async (env: Record<string, string> = {}, more: Parameters<typeof openTestCore>[0] = {}) => {
  core = await openTestCore({ clock, script, env: { SVC_TITLES: 'model', ...env }, ...more });
};
beforeEach(() => {
  clock = createFakeClock();
  naming = () => says('"Baking bread."');
});
afterEach(() => core.drop());

const caller = { sink: null, isGone: () => false };
const ask = (text: string, over: Partial<Envelope> = {}) => core.context.pipeline.handle(envelope(text, over), caller, 'r1');
const url = (of = key) => `/v2/session/${encodeURIComponent(of)}`;
const session = async (of = key) => (await core.app.inject(url(of))).json<Session>();
const titleOf = async (of = key) => {
  const { title, title_by } = await session(of);
  return `${title} by ${title_by}`;
};
const patch = (payload: object, of = key) => core.app.inject({ method: 'PATCH', url: url(of), payload });
const settle = () => new Promise((resolve) => setImmediate(resolve));
const pass = async (ms: number): Promise<void> => {
  clock.advance(ms);
  for (let n = 0; n < 20; n++) await settle();
};
const titleRequests = () => core.engine.requests.filter(({ purpose }) => purpose === 'title');
const titled = () => core.telemetry.events.filter(({ payload }) => payload?.['what'] === 'titled').map(({ payload }) => payload);
const costs = () => core.telemetry.events.filter(({ payload }) => payload?.['feature'] === 'title');

/** Sends a first message and has its title requested; the model answers when the returned function is called. */
async function askForHeldTitle(): Promise<() => void> {
  const held = Promise.withResolvers<void>();
  naming = async function* () {
    await held.promise;
    yield* says('Baking bread');
  };
  await ask('How do I bake bread?');
  await pass(delayMs);
  expect(titleRequests()).toHaveLength(1);
  return held.resolve;
}

describe('a title from the first words', () => {
  beforeEach(() => open({ SVC_TITLES: 'words' }));

  test('uses the words of the sender, not text that the channel adds', async () => {
    await ask('', { content: { text: 'Close this.\n\n[The request above was written in issue 1.]', said: 'Close this.' } });
    expect(await titleOf()).toBe('Close this. by words');
  });

  test('is set when the session begins, even if the turn fails, and does not change later', async () => {
    await ask('break').catch(() => undefined);
    await expect.poll(() => titleOf()).toBe('break by words');
    await ask('How do I bake bread?');
    await pass(delayMs);
    expect(await titleOf()).toBe('break by words');
    expect(titled()).toEqual([{ what: 'titled', title: 'break', by: 'words' }]);
    expect(titleRequests()).toEqual([]);
  });

  test('masks secrets, and on a public channel also personal data', async () => {
    const secret = 'one two three four five six seven eight nine ten eleven twelve thirteen';
    core.context.knownSecrets.learn([secret]);
    await ask(`my phrase: ${secret}`);
    await expect.poll(() => titleOf()).toMatch(/^my phrase: \[redacted:/);
    expect(await titleOf()).not.toContain('one two');
    await ask('write to anna@corp-mail.net now', { conversation_key: 'compat:c1:public', public: true });
    await expect.poll(() => titleOf('compat:c1:public')).toMatch(/^write to \[redacted:.*\] now by words$/);
  });

  test('of a forgotten conversation is not given to the next one under its key', async () => {
    await ask(' ');
    const turn: Turn = { id: 't', seq: 1, requestId: 'r', envelope: envelope('the old matter'), instanceId: null };
    core.context.titles.opened(turn, { title_by: null });
    core.context.titles.forget(key);
    await pass(100);
    expect(await titleOf()).toBe('null by null');
  });

  test('of a very long message is taken from its beginning, whatever files it names', async () => {
    const attachments = Array.from({ length: 32 }, (_, n) => ({ path: `${core.folder}/${'x'.repeat(n)}` }));
    const turn: Turn = {
      id: 't',
      seq: 1,
      requestId: 'r',
      envelope: envelope('', { content: { text: `How so? ${'x'.repeat(990_000)}`, attachments } }),
      instanceId: null,
    };
    await ask(' ');
    core.context.titles.opened(turn, { title_by: null });
    await expect.poll(() => titleOf()).toBe('How so? by words');
  });

  test('survives a crash', async () => {
    await ask('How do I bake bread?');
    await expect.poll(() => titleOf()).toContain('words');
    await core.context.db.flush();
    await open({}, { dataDir: core.crash() });
    expect(await titleOf()).toBe('How do I bake bread? by words');
  });

  test('appears in the list of sessions, and is new after /new', async () => {
    await ask('How do I bake bread?');
    await expect.poll(() => titleOf()).toContain('bread');
    await ask('/new');
    await ask('And cake?');
    await expect.poll(() => titleOf()).toBe('And cake? by words');
    expect((await core.app.inject('/v2/sessions')).json()).toMatchObject({
      sessions: [{ title: 'And cake?', title_by: 'words' }],
    });
  });
});

test('with SVC_TITLES=off only a person sets a title', async () => {
  await open({ SVC_TITLES: 'off' });
  await ask('How do I bake bread?');
  await pass(delayMs);
  expect(await titleOf()).toBe('null by null');
  await patch({ title: 'Bread' });
  expect(await titleOf()).toBe('Bread by person');
  await patch({ title: null });
  expect(await titleOf()).toBe('null by null');
});

describe('a title from a model', () => {
  test('is requested once, a while after the first answer, without tools or session', async () => {
    await open();
    await ask('How do I bake bread?');
    await pass(delayMs - 1);
    expect(titleRequests()).toEqual([]);
    await pass(1);
    await expect.poll(() => titleOf()).toBe('Baking bread by model');
    expect(titleRequests()).toMatchObject([
      { toolPolicy: 'none', toolServers: [], resume: null, filesDir: null, transcript: [], attachments: [] },
    ]);
    expect(titleRequests()[0]?.prompt).toContain('re: How do I bake bread?');
    expect(titled().at(-1)).toEqual({ what: 'titled', title: 'Baking bread', by: 'model' });
    await ask('And cake?');
    await pass(delayMs);
    expect(titleRequests()).toHaveLength(1);
    expect((await session()).turns).toBe(2);
  });

  test('is requested after the first turn that is answered', async () => {
    await open();
    await ask('break').catch(() => undefined);
    await pass(delayMs);
    expect(titleRequests()).toEqual([]);
    await ask('hello');
    await pass(delayMs);
    await expect.poll(() => titleOf()).toBe('Baking bread by model');
  });

  test('is priced and counted for the person, with the feature "title"', async () => {
    const usage = { input_tokens: 1000, output_tokens: 10, cache_read_tokens: 0, cache_write_tokens: 0, estimated: false };
    naming = function* () {
      yield { type: 'session', engineSessionId: 't', resumed: false, model: 'list-model' };
      yield { type: 'usage', usage: { ...usage, cost_usd: null } };
      yield* says('Baking bread');
    };
    const prices = { models: { 'list-model': { in: 2, out: 0 } } };
    await open({}, { auth: 'api_key', before: (dir) => writeFileSync(path.join(dir, 'pricing.json'), JSON.stringify(prices)) });
    await ask('How do I bake bread?');
    await pass(delayMs);
    await expect.poll(() => titleOf()).toBe('Baking bread by model');
    expect(costs()).toMatchObject([
      {
        kind: 'token-usage',
        session: key,
        identity: 'owner',
        principal: 'owner',
        cost_usd: 0.002,
        billed_cost_usd: 0.002,
        payload: { feature: 'title', provider: 'scripted', units: 'tokens', quantity: 1010 },
      },
    ]);
    expect((await core.app.inject('/v2/spend')).json()).toMatchObject({ principals: [{ key: 'owner', cost_usd: 0.002 }] });
  });

  test('is not requested over a spending limit, and no refusal is reported', async () => {
    await open({ SVC_SPEND_HARD_USD: '0.001' });
    const { principal_id } = await core.context.trust.resolve(envelope('hi'));
    await ask('How do I bake bread?');
    core.context.spend.add({ principal_id, principal_key: 'owner' }, 0.01);
    await pass(delayMs);
    expect(titleRequests()).toEqual([]);
    expect(core.telemetry.events.filter(({ payload }) => payload?.['what'] === 'refused')).toEqual([]);
    expect(await titleOf()).toBe('How do I bake bread? by words');
  });

  test('counts in the budget of the sender, whose next turn is then blocked', async () => {
    await open();
    naming = function* () {
      const usage = { input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0, estimated: false };
      yield { type: 'usage', usage: { ...usage, cost_usd: 0.25 } };
      yield* says('Baking bread');
    };
    await core.context.spend.setBudget('compat', 'owner', 0.2);
    await ask('How do I bake bread?');
    await pass(delayMs);
    await expect.poll(() => titleOf()).toBe('Baking bread by model');
    expect((await ask('And cake?')).outcome).toBe('blocked');
    expect(core.context.spend.report().budgets).toMatchObject([{ value: 'owner', spent_usd: 0.25 }]);
  });

  test('is not requested while a turn waits for a slot', async () => {
    await open({ SVC_MAX_CONCURRENT_TURNS: '1' });
    await ask('How do I bake bread?');
    let release = () => undefined as void;
    const held = new Promise<void>((resolve) => (release = resolve));
    core.engine.script(async function* (request) {
      if (request.purpose !== 'title') await held;
      yield* script(request, new AbortController().signal);
    });
    const others = [ask('one', { conversation_key: 'compat:c1:1' }), ask('two', { conversation_key: 'compat:c1:2' })];
    await pass(delayMs * 10);
    expect(titleRequests()).toEqual([]);
    release();
    await Promise.all(others);
    await pass(1000);
    await expect.poll(() => titleOf()).toBe('Baking bread by model');
  });

  test.each<[string, () => Iterable<EngineEvent>]>([
    ['a refusal', () => says("I'm sorry, I can't do that.")],
    ['nothing', () => says('')],
    ['silence', () => says('[[NO_REPLY]]')],
    ['an essay', () => says('This conversation is about bread. '.repeat(10))],
    ['more than there is room for', () => says('x'.repeat(100_000))],
    ['endless thoughts', () => Array.from({ length: 1000 }, () => ({ type: 'thinking', text: 'hm '.repeat(100) }) as const)],
    ['a failure', () => [{ type: 'failed', failure: { code: 'engine_rate_limited', message: 'No.', retryable: true } }]],
    ['an end without a word', () => []],
  ])('is rejected when the model gives %s: the first words stay, and it is not requested again', async (_what, said) => {
    await open();
    naming = said;
    await ask('How do I bake bread?');
    await pass(delayMs);
    await expect.poll(() => costs().length).toBe(1);
    await ask('And cake?');
    await pass(delayMs);
    expect(await titleOf()).toBe('How do I bake bread? by words');
    expect(titleRequests()).toHaveLength(1);
    expect((await ask('still there?')).warnings).toBeUndefined();
  });

  test('masks secrets, even when it has to be truncated', async () => {
    await open();
    const secret = 'a very long passphrase of many words that nobody but the operator knows by heart';
    core.context.knownSecrets.learn([secret]);
    naming = () => says(`Key ${secret}`);
    await ask('How do I bake bread?');
    await pass(delayMs);
    await expect.poll(() => titleOf()).toMatch(/^Key \[redacted:.* by model$/);
    expect(JSON.stringify(core.telemetry.events)).not.toContain('passphrase');
  });

  test('is requested for one conversation at a time, and not for each of hundreds', async () => {
    await open();
    for (let n = 0; n < 100; n++) await ask(`hello ${n}`, { conversation_key: `compat:c1:${n}` });
    for (let n = 0; n < 200; n++) await pass(1000);
    expect(titleRequests().length).toBeGreaterThan(10);
    expect(titleRequests().length).toBeLessThanOrEqual(32);
    await expect.poll(() => titleOf('compat:c1:0')).toBe('hello 0 by words');
  });

  test('is discarded when the conversation was forgotten in the meantime', async () => {
    await open();
    const release = await askForHeldTitle();
    await ask('/new');
    await ask('Another matter');
    release();
    await pass(100);
    await expect.poll(() => titleOf()).toBe('Another matter by words');
  });
});

describe('PATCH /v2/session/:key { title }', () => {
  beforeEach(() => open());

  test('sets the title, which no model changes, not even a pending request', async () => {
    const release = await askForHeldTitle();
    expect((await patch({ title: '  My bread  ' })).json()).toEqual({ ok: true, title: 'My bread', title_by: 'person' });
    release();
    await pass(100);
    await ask('And cake?');
    await pass(delayMs);
    expect(await titleOf()).toBe('My bread by person');
    expect(titled().at(-1)).toEqual({ what: 'titled', title: 'My bread', by: 'person' });
  });

  test('with null restores the first words, and a model may set a title after the next answer', async () => {
    await ask('/status');
    await ask('How do I bake bread?');
    await patch({ title: 'My bread' });
    await pass(delayMs);
    expect(titleRequests()).toEqual([]);
    expect((await patch({ title: null })).json()).toEqual({ ok: true, title: 'How do I bake bread?', title_by: 'words' });
    await ask('And cake?');
    await pass(delayMs);
    await expect.poll(() => titleOf()).toBe('Baking bread by model');
  });

  test('sets title and folder together or not at all', async () => {
    await ask('How do I bake bread?');
    expect((await patch({ title: 'Bread', cwd: core.folder })).statusCode).toBe(400); // the service's own data
    expect(await titleOf()).not.toContain('person');
    expect((await patch({ title: 'Bread', cwd: null })).json()).toMatchObject({ title: 'Bread', cleared: false, folder: null });
  });

  test.each([
    {},
    { title: '' },
    { title: ' ' },
    { title: '\u200b' },
    { title: 'two\nlines' },
    { title: 'a\u2028b' },
    { title: '\u001b[2J' },
    { title: 'x'.repeat(201) },
    { title: 5 },
    { title: ['a'] },
    { title: 'fine', other: 1 },
    { title: 'fine', for: 'full' },
    { title: '\ud800' },
  ])('refuses %j', async (body) => {
    await ask('How do I bake bread?');
    expect((await patch(body)).statusCode).toBe(400);
    expect(await titleOf()).not.toContain('person');
  });

  test('answers 404 for an unknown session', async () => {
    expect((await patch({ title: 'Bread' }, 'compat:c1:nobody')).statusCode).toBe(404);
    expect((await patch({ title: null }, 'compat:c1:nobody')).statusCode).toBe(404);
  });
});
