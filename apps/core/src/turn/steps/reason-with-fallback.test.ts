import { describe, expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createEngineFallback } from '../../engine/fallback.ts';
import type { RunFailure } from '../run-limits.ts';
import { reasonWithFallback } from './reason-with-fallback.ts';
import type { Failed, Reasoned } from './reason.ts';

const failed = (code: RunFailure['code'], shown: Failed['shown'] = 'nothing'): Failed => ({
  ending: 'failed',
  failure: { code, message: `${code}!`, retryable: true },
  shown,
});
const done = { ending: 'done', redactor: { text: (text: string) => text } } as unknown as Reasoned['outcome'];

/** Asks `claude`, then `codex`; `outcomes` are what the runs give, one after the other. */
function open(...outcomes: Reasoned['outcome'][]) {
  const asked: string[] = [];
  const counted: string[] = [];
  const fallback = createEngineFallback(['codex'], createFakeClock());
  const engineOf = (id: string) => ({ choice: { id }, engine: { id } });
  const deps = {
    engines: { active: () => Promise.resolve(engineOf('claude')), open: (id: string) => Promise.resolve(engineOf(id)) },
    instanceRules: { of: () => ({}) },
    engineFallback: fallback,
    events: {
      engineNotice: (_turn: unknown, _identity: unknown, { engineId, code }: Record<'engineId' | 'code', string>) =>
        counted.push(`${code} ${engineId}`),
      tokenUsage: () => counted.push('tokens'),
    },
    sessions: {
      addTurn: () => Promise.resolve(counted.push('turn')),
      keepEngineSession: () => Promise.resolve(counted.push('session')),
    },
    spend: { add: () => undefined },
  };
  const used = { turn: {}, charge: { usage: {} }, isReported: false, engineSessionId: null };
  const run = () =>
    reasonWithFallback(deps as never, { turn: { instanceId: null } } as never, ({ choice }) => {
      asked.push(choice.id);
      return Promise.resolve({ outcome: outcomes.shift() ?? done, used } as unknown as Reasoned);
    });
  return { run, asked, counted, fallback };
}

describe('failure of the default engine', () => {
  test.each([
    ['a limit before anything was shown', failed('engine_rate_limited'), ['claude', 'codex']],
    ['a crash before anything was shown', failed('engine_crashed'), ['claude', 'claude']],
  ])('%s: another run answers, and the failed one is not counted as a turn', async (_name, outcome, order) => {
    const { run, asked, counted } = open(outcome);
    await run();
    expect(asked).toEqual(order);
    expect(counted.filter((what) => what === 'turn')).toHaveLength(1);
  });

  test.each([
    ['a limit after something was shown', failed('engine_rate_limited', 'something')],
    ['a crash after something was shown', failed('engine_crashed', 'something')],
    ['an end without a word', failed('engine_crashed', 'unknown')],
    ['a refusal that any engine would give', failed('engine_output_too_large')],
  ])('%s: the turn fails and is counted', async (_name, outcome) => {
    const { run, asked, counted } = open(outcome);
    await expect(run()).rejects.toMatchObject({ code: outcome.failure.code, details: { engine_id: 'claude' } });
    expect([asked, counted]).toEqual([['claude'], ['tokens', 'turn']]);
  });

  test('two crashes: the next engine answers, and the reason names the default engine', async () => {
    const { run, asked } = open(failed('engine_crashed'), failed('engine_crashed'));
    expect(await run()).toMatchObject({ fallbackReason: 'claude could not answer: engine_crashed!' });
    expect(asked).toEqual(['claude', 'claude', 'codex']);
  });

  test('every engine fails: the turn fails with the last failure', async () => {
    const { run, asked } = open(failed('engine_overloaded'), failed('engine_not_logged_in'));
    await expect(run()).rejects.toMatchObject({ code: 'engine_not_logged_in', details: { engine_id: 'codex' } });
    expect(asked).toEqual(['claude', 'codex']);
  });

  test('a failure with unknown output does not pause the engine', async () => {
    const { run, fallback } = open(failed('engine_crashed', 'unknown'));
    await run().catch(() => undefined);
    expect(fallback.notice('claude')).toBeNull();
  });
});
