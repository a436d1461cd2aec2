import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { TelemetryEvent } from '@svc/contract/event.ts';
import type { PricingReport } from '@svc/contract/cost.ts';
import type { TokenUsage } from '@svc/contract/usage.ts';
import type { EngineAuth, EngineEvent } from '@svc/engine-kit/engine.ts';
import { says, type EngineScript } from '@svc/testing/scripted-engine.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

let core: TestCore;
afterEach(() => core.close());

const prices = { models: { 'list-model': { in: 1, out: 10, cache_read: 0.1, cache_write: 2 } } };
/** Costs 0.003 USD at these prices. */
const used: TokenUsage = {
  input_tokens: 1000,
  output_tokens: 150,
  cache_read_tokens: 3000,
  cache_write_tokens: 100,
  thinking_tokens: 40,
  estimated: false,
  cost_usd: null,
};
const listCost = 0.003;

type Setting = { auth?: EngineAuth; env?: Record<string, string>; file?: unknown };
const open = async ({ auth = 'subscription', env = {}, file = prices }: Setting = {}) => {
  core = await openTestCore({
    auth,
    env,
    before: (dataDir) => writeFileSync(path.join(dataDir, 'pricing.json'), JSON.stringify(file)),
  });
};

/** An engine that reports its model and usage, then ends. */
const working = (
  model: string | null,
  usage: TokenUsage | null,
  ending: () => Iterable<EngineEvent> = () => says('fine'),
): EngineScript =>
  async function* () {
    yield { type: 'session', engineSessionId: 's', resumed: false, model };
    if (usage !== null) yield { type: 'usage', usage };
    yield* ending();
  };
const get = async <T = Record<string, unknown>>(url: string): Promise<T> => (await core.app.inject(url)).json<T>();
const reload = () => core.app.inject({ method: 'POST', url: '/v2/pricing/reload' });
const usageEvent = (): TelemetryEvent | undefined => core.telemetry.events.findLast((event) => event.kind === 'token-usage');

const endings = {
  replies: () => says('fine'),
  'is silent': () => says('[[NO_REPLY]]'),
  'is aborted': (): EngineEvent[] => [{ type: 'aborted' }],
  fails: (): EngineEvent[] => [{ type: 'failed', failure: { code: 'engine_overloaded', message: 'busy', retryable: false } }],
};

describe.each(Object.entries(endings))('a turn that %s', (_what, ending) => {
  test.each([
    { auth: 'subscription', own: null, cost: listCost, billedCost: 0 },
    { auth: 'subscription', own: 0.25, cost: 0.25, billedCost: 0 },
    { auth: 'api_key', own: null, cost: listCost, billedCost: listCost },
    { auth: 'api_key', own: 0.25, cost: 0.25, billedCost: 0.25 },
  ] as const)('costs $cost, of which $billedCost are billed, with $auth and a reported cost of $own', async (row) => {
    await open({ auth: row.auth });
    core.engine.script(working('list-model-20251101', { ...used, cost_usd: row.own }, ending));
    const answer = (await core.handle(envelope('go'))).json();
    expect(usageEvent()).toMatchObject({
      cost_usd: row.cost,
      billed_cost_usd: row.billedCost,
      billed: row.auth === 'api_key',
      payload: { model: 'list-model-20251101', priced: true, estimated: false, input_tokens: 1000, thinking_tokens: 40 },
    });
    if (answer.usage !== undefined) expect(answer.usage.cost_usd).toBe(row.cost);
    expect(await get('/v2/session/compat:c1:key')).toMatchObject({ cost_usd: row.cost, unpriced_turns: 0 });
    expect(await get('/v2/spend')).toMatchObject({ total: { cost_usd: row.cost } });
    const said = (await core.handle(envelope('/usage'))).json().actions[0].text as string;
    expect(said).toBe(`1 turn, 4100 tokens in, 150 tokens out, worth $${row.cost.toFixed(4)} at list prices.`);
  });
});

test('a turn without reported usage is priced by an estimate of message and reply, and marked as estimated', async () => {
  await open({ auth: 'api_key' });
  core.engine.script(working('list-model', null, () => says('a reply of 24 characters')));
  await core.handle(envelope('eight ch'));
  expect(usageEvent()).toMatchObject({
    cost_usd: 0.000062,
    billed_cost_usd: 0.000062,
    payload: { estimated: true, priced: true, input_tokens: 2, output_tokens: 6 },
  });
});

test.each(['engine_not_logged_in', 'engine_endpoint_down'] as const)(
  'a turn that reached no model (%s) has zero usage and cost, and is not counted as unpriced',
  async (code) => {
    await open({ auth: 'api_key' });
    core.engine.script(async function* () {
      yield { type: 'failed', failure: { code, message: 'no', retryable: false } };
    });
    await core.handle(envelope('go'));
    expect(usageEvent()).toMatchObject({ cost_usd: 0, payload: { priced: true, estimated: false, input_tokens: 0 } });
    expect(await get('/v2/session/compat:c1:key')).toMatchObject({ input_tokens: 0, cost_usd: 0, unpriced_turns: 0 });
    expect((await get<PricingReport>('/v2/pricing')).unpriced).toEqual([]);
  },
);

test('a usage event has the raw sender as its identity, and the person in "principal" and the payload', async () => {
  await open();
  await core.addPrincipal('anna', 'trusted', 'issues');
  await core.handle(envelope('go', { channel: 'issues', sender: { raw_id: 'ANNA' } }));
  expect(usageEvent()).toMatchObject({ identity: 'ANNA', principal: 'anna', payload: { principal: 'anna' } });
});

describe('a model without a price', () => {
  test.each(['subscription', 'api_key'] as const)('has no cost and is reported as unpriced, with %s', async (auth) => {
    await open({ auth });
    core.engine.script(working('qwen3:8b', used));
    const answer = (await core.handle(envelope('go'))).json();
    expect(answer.usage.cost_usd).toBeNull();
    expect(usageEvent()).toMatchObject({
      cost_usd: null,
      billed_cost_usd: auth === 'api_key' ? null : 0,
      payload: { model: 'qwen3:8b', priced: false },
    });
    expect(await get('/v2/spend')).toMatchObject({ total: { cost_usd: 0 } });
    expect((await get<PricingReport>('/v2/pricing')).unpriced).toEqual([{ engine_id: 'scripted', model: 'qwen3:8b', runs: 1 }]);
  });

  test('is counted separately from the cost of a conversation', async () => {
    await open();
    core.engine.script(working('list-model', used));
    await core.handle(envelope('one', { message_id: '1' }));
    core.engine.script(working('qwen3:8b', used));
    await core.handle(envelope('two', { message_id: '2' }));
    expect(await get('/v2/session/compat:c1:key')).toMatchObject({ turns: 2, cost_usd: listCost, unpriced_turns: 1 });
    expect((await core.handle(envelope('/usage'))).json().actions[0].text).toContain(
      'worth $0.0030 at list prices. No price is known for 1 of the turns.',
    );
  });

  test('causes a notice in /health when spending is limited', async () => {
    await open({ env: { SVC_SPEND_HARD_USD: '5' } });
    core.engine.script(working('qwen3:8b', used));
    expect(await get('/health')).toMatchObject({ notices: [] });
    await core.handle(envelope('go'));
    expect(await get('/health')).toMatchObject({
      status: 'ok',
      notices: [expect.stringContaining('no price is known: qwen3:8b.')],
    });
  });

  test('causes a notice when a sender has a budget, until a price is set', async () => {
    await open();
    await core.app.inject({
      method: 'PUT',
      url: '/v2/spend/budget',
      payload: { surface: 'compat', value: 'owner', month_usd: 5 },
    });
    core.engine.script(working('qwen3:8b', used));
    await core.handle(envelope('go'));
    expect(await get('/health')).toMatchObject({ notices: [expect.stringContaining('no price is known: qwen3:8b.')] });
    const set = await core.app.inject({ method: 'PUT', url: '/v2/pricing/models/qwen3', payload: { in: 1, out: 2 } });
    expect(set.json<PricingReport>().unpriced).toEqual([]);
    expect(await get('/health')).toMatchObject({ notices: [] });
  });

  test('causes no notice in /health without a limit', async () => {
    await open();
    core.engine.script(working('qwen3:8b', used));
    await core.handle(envelope('go'));
    expect(await get('/health')).toMatchObject({ status: 'ok', notices: [] });
  });
});

describe('a title', () => {
  const ask = () => core.app.inject({ method: 'POST', url: '/v2/title', payload: { text: 'how do I bake bread?' } });

  test('is priced like a turn, with its feature in the usage event', async () => {
    await open({ auth: 'api_key' });
    core.engine.script(working('list-model', used, () => says('Baking bread')));
    expect((await ask()).json()).toMatchObject({ title: 'Baking bread' });
    expect(usageEvent()).toMatchObject({
      cost_usd: listCost,
      billed_cost_usd: listCost,
      billed: true,
      payload: { feature: 'title', provider: 'scripted', model: 'list-model', units: 'tokens', quantity: 4250, priced: true },
    });
    expect(await get('/v2/spend')).toMatchObject({ total: { cost_usd: listCost } });
  });

  test('that fails is priced, too', async () => {
    await open();
    core.engine.script(working('list-model', { ...used, cost_usd: 0.5 }, endings.fails));
    expect((await ask()).statusCode).toBe(503);
    expect(usageEvent()).toMatchObject({ cost_usd: 0.5, billed_cost_usd: 0, billed: false, payload: { feature: 'title' } });
  });

  test('of a model without a price has no cost and is marked as unpriced', async () => {
    await open();
    core.engine.script(working(null, used, () => says('Baking bread')));
    await ask();
    expect(usageEvent()).toMatchObject({ cost_usd: null, payload: { feature: 'title', model: null, priced: false } });
  });
});

describe('GET /v2/pricing', () => {
  test('shows the current prices and their sources', async () => {
    await open();
    const report = await get<PricingReport>('/v2/pricing');
    expect(report.models).toMatchObject({ 'list-model': prices.models['list-model'], 'gpt-5': { in: 1.25, out: 10 } });
    expect(report).toMatchObject({ tts: { 'eleven_*': 0.1 }, stt: { 'whisper-1': 0.006 }, unpriced: [] });
    expect(report.source).toEqual({
      built_in: expect.stringMatching(/^\d{4}-\d{2}$/) as string,
      file: path.join(core.folder, 'pricing.json'),
      file_state: 'applied',
      loaded_at: expect.any(Number) as number,
      fault: null,
      from_file: { models: ['list-model'], tts: [], stt: [] },
    });
  });
});

describe('POST /v2/pricing/reload', () => {
  const write = (text: string) => writeFileSync(path.join(core.folder, 'pricing.json'), text);

  test('applies a changed file from the next turn on', async () => {
    await open();
    core.engine.script(working('list-model', used));
    await core.handle(envelope('one', { message_id: '1' }));
    write(JSON.stringify({ models: { 'list-model': { in: 2, out: 20 } } }));
    await core.handle(envelope('two', { message_id: '2' }));
    expect(usageEvent()?.cost_usd).toBe(listCost);
    expect((await reload()).json()).toMatchObject({ models: { 'list-model': { in: 2 } } });
    await core.handle(envelope('three', { message_id: '3' }));
    expect(usageEvent()?.cost_usd).toBe(0.0112);
  });

  test('rejects an invalid file, keeps the prices, and /health names the fault until it is corrected', async () => {
    await open();
    write('{"models":{"list-model":{"in":"cheap"}}}');
    const refused = await reload();
    expect([refused.statusCode, refused.json().error]).toEqual([422, 'unprocessable']);
    expect(refused.json().message).toContain('models.list-model.in must be an amount in USD');
    expect(await get('/health')).toMatchObject({
      status: 'degraded',
      degraded: [expect.stringContaining('models.list-model.in must be an amount in USD')],
    });
    core.engine.script(working('list-model', used));
    await core.handle(envelope('go'));
    expect(usageEvent()?.cost_usd).toBe(listCost);
    rmSync(path.join(core.folder, 'pricing.json'));
    expect((await reload()).statusCode).toBe(200);
    expect(await get('/health')).toMatchObject({ status: 'ok', degraded: [] });
  });

  test('falls back to the built-in prices when the file is invalid at the start', async () => {
    await open({ file: { modles: {} } });
    expect(await get('/health')).toMatchObject({ degraded: [expect.stringContaining('"modles" is not one of')] });
    core.engine.script(working('gpt-5-2025-08-07', used));
    await core.handle(envelope('go'));
    expect(usageEvent()?.cost_usd).toBe(0.00325);
  });
});

describe('/v2/pricing/models/:model', () => {
  const url = (model: string) => `/v2/pricing/models/${encodeURIComponent(model)}`;
  const set = (model: string, payload: object) => core.app.inject({ method: 'PUT', url: url(model), payload });
  const ownModels = async () => (await get<PricingReport>('/v2/pricing')).source.from_file.models;

  test('changes nothing when the request is rejected', async () => {
    await open();
    expect((await set('new-model', { in: 1 })).statusCode).toBe(422);
    expect(await get('/health')).toMatchObject({ status: 'ok', degraded: [] });
    expect((await get<PricingReport>('/v2/pricing')).source).toMatchObject({ file_state: 'applied', fault: null });
  });

  test("changes and removes a price, ignoring the case of the model's name", async () => {
    await open({ file: { models: { 'List-Model': { in: 1, out: 10 } } } });
    expect((await set('list-model', { in: 3 })).json()).toMatchObject({ models: { 'list-model': { in: 3, out: 10 } } });
    expect(await ownModels()).toEqual(['list-model']);
    expect((await core.app.inject({ method: 'DELETE', url: url('LIST-MODEL') })).statusCode).toBe(200);
    expect(await ownModels()).toEqual([]);
  });
});

test('SVC_PRICING_FILE names another file, which must exist', async () => {
  await open({ env: { SVC_PRICING_FILE: '/nonexistent/prices.json' } });
  expect(await get('/health')).toMatchObject({
    degraded: ['the prices in /nonexistent/prices.json cannot be used: there is no such file'],
  });
});
