import { afterEach, describe, expect, test } from 'vitest';
import type { EngineEvent } from '@svc/engine-kit/engine.ts';
import type { TokenUsage } from '@svc/contract/usage.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { says, type EngineScript } from '@svc/testing/scripted-engine.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

let core: TestCore;
afterEach(() => core.close());

const used = (cost_usd: number | null): TokenUsage => ({
  input_tokens: 10,
  output_tokens: 10,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  estimated: false,
  cost_usd,
});

/** Turns that cost `cost_usd` each and end with `ending`. */
const costing = (cost_usd: number | null, ending: () => Iterable<EngineEvent> = () => says('fine')): EngineScript =>
  async function* () {
    yield { type: 'usage', usage: used(cost_usd) };
    yield* ending();
  };

const open = async (env: Record<string, string>, at = '2026-11-21T12:00:00') => {
  const clock = createFakeClock(Number(new Date(at)));
  core = await openTestCore({ env, clock });
  return clock;
};
let serial = 0;
const say = async (text: string, sender = 'owner', over: object = {}) =>
  (
    await core.handle(
      envelope(text, {
        sender: { raw_id: sender },
        message_id: `m${++serial}`,
        conversation_key: `compat:c1:${sender}`,
        ...over,
      }),
    )
  ).json();
const report = async () => (await core.app.inject('/v2/spend')).json();
const health = async () => (await core.app.inject('/health')).json();
const spendEvents = () => core.telemetry.events.filter((event) => event.kind === 'spend');

describe('a hard spending limit', () => {
  test('blocks the next turn with the reason, before any engine call or session', async () => {
    await open({ SVC_SPEND_HARD_USD: '1' });
    core.engine.script(costing(1));
    expect(await say('one')).toMatchObject({ outcome: 'replied' });
    await core.addPrincipal('anna', 'trusted');
    const refused = await say('two', 'anna');
    expect(refused.outcome).toBe('blocked');
    expect(refused.actions).toEqual([
      {
        type: 'reply',
        text: 'This assistant has used up what may be spent this month: $1.00 of $1.00, at list prices. It starts again on 2026-12-01.',
      },
    ]);
    expect(core.engine.requests).toHaveLength(1);
    expect((await core.app.inject('/v2/session/compat:c1:anna')).statusCode).toBe(404);
    expect(spendEvents().map(({ principal, payload }) => [payload['what'], principal])).toEqual([
      ['hard', null],
      ['refused', 'anna'],
    ]);
  });

  test('per person blocks only people who have reached it', async () => {
    await open({ SVC_SPEND_PRINCIPAL_HARD_USD: '1' });
    await core.addPrincipal('anna', 'known');
    core.engine.script(costing(1));
    await say('one', 'anna');
    expect(await say('two', 'anna')).toMatchObject({ outcome: 'blocked' });
    expect(await say('one')).toMatchObject({ outcome: 'replied' });
  });

  test('blocks a title that a program requests', async () => {
    await open({ SVC_SPEND_HARD_USD: '1' });
    core.engine.script(costing(1));
    await say('one');
    const asked = await core.app.inject({ method: 'POST', url: '/v2/title', payload: { text: 'how do I bake bread?' } });
    expect([asked.statusCode, asked.json()]).toMatchObject([403, { error: 'forbidden', reason: 'spending_limit' }]);
    expect(core.engine.requests).toHaveLength(1);
  });

  test('is reported without figures on a public channel', async () => {
    await open({ SVC_SPEND_HARD_USD: '1' });
    core.engine.script(costing(1));
    await say('one');
    const [action] = (await say('two', 'owner', { public: true })).actions;
    expect(action.text).toContain('a spending limit is reached');
    expect(action.text).not.toMatch(/\d/);
  });

  test('resets at the end of its period, without a restart', async () => {
    const clock = await open({ SVC_SPEND_HARD_USD: '1', SVC_SPEND_PERIOD: 'day' });
    core.engine.script(costing(1));
    await say('one');
    expect(await say('two')).toMatchObject({ outcome: 'blocked' });
    clock.advance(12 * 60 * 60_000);
    expect(await say('three')).toMatchObject({ outcome: 'replied' });
  });

  test('does not block chat commands', async () => {
    await open({ SVC_SPEND_HARD_USD: '1' });
    core.engine.script(costing(1));
    await say('one');
    expect(await say('/status')).toMatchObject({ outcome: 'command' });
  });
});

describe('counted spending', () => {
  test.each([
    ['a turn that replies', () => says('fine'), 200],
    ['a silent turn', () => says('[[NO_REPLY]]'), 200],
    ['an aborted turn', (): EngineEvent[] => [{ type: 'aborted' }], 200],
    [
      'a failed turn',
      (): EngineEvent[] => [{ type: 'failed', failure: { code: 'engine_overloaded', message: 'busy', retryable: false } }],
      503,
    ],
  ] as const)('includes %s', async (_what, ending, status) => {
    await open({});
    core.engine.script(costing(0.25, ending));
    expect((await core.handle(envelope('go'))).statusCode).toBe(status);
    expect(await report()).toMatchObject({ total: { cost_usd: 0.25 }, principals: [{ key: 'owner', cost_usd: 0.25, turns: 1 }] });
  });

  test('omits turns that cost nothing or have no known price', async () => {
    await open({});
    core.engine.script(costing(0));
    await say('one');
    core.engine.script(costing(null));
    await say('two');
    expect((await report()).principals).toEqual([]);
    expect(await core.context.db.all('SELECT * FROM spend')).toEqual([]);
  });
});

describe('GET /v2/spend', () => {
  test('shows the period, the limits and the spending of each person, highest first', async () => {
    await open({ SVC_SPEND_SOFT_USD: '5', SVC_SPEND_HARD_USD: '10', SVC_SPEND_PRINCIPAL_HARD_USD: '3' });
    await core.addPrincipal('anna', 'known');
    core.engine.script(costing(0.5));
    await say('one');
    core.engine.script(costing(2));
    await say('one', 'anna');
    expect(await report()).toEqual({
      period: 'month',
      since: Number(new Date('2026-11-01T00:00:00')),
      until: Number(new Date('2026-12-01T00:00:00')),
      total: { cost_usd: 2.5, soft_usd: 5, hard_usd: 10 },
      per_principal: { soft_usd: null, hard_usd: 3 },
      principals: [
        { principal_id: expect.stringMatching(/^principal_/) as string, key: 'anna', cost_usd: 2, turns: 1 },
        { principal_id: expect.stringMatching(/^principal_/) as string, key: 'owner', cost_usd: 0.5, turns: 1 },
      ],
      budgets: [],
    });
  });
});

describe('PUT /v2/spend/budget', () => {
  const setBudget = (payload: object) => core.app.inject({ method: 'PUT', url: '/v2/spend/budget', payload });

  test('limits one sender, whose turns are blocked over the budget, and affects no other', async () => {
    await open({});
    expect((await setBudget({ surface: 'compat', value: 'owner', month_usd: 1 })).json()).toEqual({
      ok: true,
      budgets: [{ surface: 'compat', value: 'owner', month_usd: 1, spent_usd: 0 }],
    });
    await core.addPrincipal('anna', 'known');
    core.engine.script(costing(1));
    expect(await say('one')).toMatchObject({ outcome: 'replied' });
    expect(await say('two')).toMatchObject({ outcome: 'blocked', blocked_by: 'spending' });
    expect(await say('three', 'anna')).toMatchObject({ outcome: 'replied' });
    expect((await report()).budgets).toMatchObject([{ spent_usd: 1 }]);
    expect(await health()).toMatchObject({ notices: [expect.stringContaining('owner (compat) spent $1.00')] });
    const told = { surface: 'compat', identity: 'owner', payload: { subject: 'sender' } };
    expect(spendEvents()).toMatchObject([
      { ...told, principal: null, payload: { what: 'hard' } },
      { ...told, principal: 'owner', payload: { what: 'refused' } },
    ]);
    await setBudget({ surface: 'compat', value: 'owner', month_usd: null });
    expect(await say('four')).toMatchObject({ outcome: 'replied' });
  });

  test.each([
    [{ surface: 'compat', value: 'ci' }],
    [{ surface: 'Compat!', value: 'ci', month_usd: 1 }],
    [{ surface: 'compat', value: '', month_usd: 1 }],
    [{ surface: 'compat', value: 'ci', month_usd: -1 }],
    [{ surface: 'compat', value: 'ci', month_usd: 'NaN' }],
  ])('refuses %j', async (payload) => {
    await open({});
    expect((await setBudget(payload)).statusCode).toBe(400);
    expect((await report()).budgets).toEqual([]);
  });
});

describe('a soft spending limit', () => {
  test('blocks no turn, emits one event per period, and is a notice in /health', async () => {
    await open({ SVC_SPEND_SOFT_USD: '1' });
    expect(await health()).toMatchObject({ status: 'ok', notices: [] });
    core.engine.script(costing(0.6));
    for (let i = 0; i < 4; i++) expect(await say(`${i}`)).toMatchObject({ outcome: 'replied' });
    expect(spendEvents()).toHaveLength(1);
    expect(spendEvents()[0]).toMatchObject({
      principal: null,
      payload: { what: 'soft', subject: 'total', limit_usd: 1, period: 'month' },
    });
    expect(await health()).toMatchObject({
      status: 'ok',
      notices: ['All together spent $2.40 this month, past the soft limit of $1.00.'],
    });
  });
});
