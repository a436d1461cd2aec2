import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { EngineEvent, EngineRequest } from '@svc/engine-kit/engine.ts';
import { sideOutput } from '@svc/engine-kit/output-limits.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { answering, workingUntilAborted, type EngineScript } from '@svc/testing/scripted-engine.ts';
import { runEngine, type Bounds } from './run-engine.ts';

const request = { resume: null } as EngineRequest;
const never = new AbortController().signal;

async function run(script: EngineScript, over: Partial<Bounds> = {}) {
  const events: EngineEvent[] = [];
  return { ending: await runWith(script, (event) => events.push(event), over), events };
}

function runWith(script: EngineScript, onEvent: (event: EngineEvent) => unknown, over: Partial<Bounds> = {}) {
  const bounds = {
    signal: never,
    idleMs: 10_000,
    graceMs: 10_000,
    maxMs: 60_000,
    output: sideOutput,
    clock: systemClock,
    ...over,
  };
  return runEngine({ run: script }, request, bounds, onEvent);
}

/** An engine that sends nothing and ignores the abort. */
const deaf: EngineScript = async function* () {
  await new Promise(() => undefined);
};

test('passes every event on and returns how the run ended', async () => {
  const { ending, events } = await run(answering('a', 'b'));
  expect(events.map((event) => event.type)).toEqual(['delta', 'delta', 'segment']);
  expect(ending).toEqual({ type: 'done' });
});

test('an engine that stops without a final event returns null', async () => {
  expect((await run(async function* () {})).ending).toBeNull();
});

test('an engine that ends on abort is reported as aborted', async () => {
  const { ending } = await run(workingUntilAborted(), { signal: AbortSignal.timeout(5) });
  expect(ending).toEqual({ type: 'aborted' });
});

test('an engine that ignores the abort is abandoned after the grace period', async () => {
  const { ending } = await run(deaf, { signal: AbortSignal.timeout(5), graceMs: 5 });
  expect(ending).toEqual({ type: 'aborted' });
});

test('an engine that is silent for too long has stalled, whether it heeds the abort or not', async () => {
  for (const script of [workingUntilAborted(), deaf]) {
    const { ending } = await run(script, { idleMs: 5, graceMs: 5 });
    expect(ending).toMatchObject({ type: 'failed', failure: { code: 'engine_stalled' } });
  }
});

test('ignores events of an abandoned engine', async () => {
  let speak!: () => void;
  const late = new Promise<void>((resolve) => (speak = resolve));
  let spoke!: () => void;
  const spoken = new Promise<void>((resolve) => (spoke = resolve));
  const script: EngineScript = async function* () {
    await late;
    try {
      yield { type: 'delta', text: 'too late' };
    } finally {
      spoke();
    }
  };
  const { events } = await run(script, { signal: AbortSignal.abort(), graceMs: 5 });
  speak();
  await spoken;
  expect(events).toEqual([]);
});

test('every event restarts the stall timeout', async () => {
  const script: EngineScript = async function* () {
    for (let i = 0; i < 10; i++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      yield { type: 'delta', text: '.' };
    }
    yield { type: 'done' };
  };
  expect((await run(script, { idleMs: 120 })).ending).toEqual({ type: 'done' });
});

test.each<[string, EngineScript]>([
  ['says that it is done', answering('too late')],
  [
    'fails',
    async function* () {
      yield { type: 'failed', failure: { code: 'engine_failed', message: 'x', retryable: true } };
    },
  ],
  ['stops without saying', async function* () {}],
  ['throws', () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('aborted')) }) })],
])('an engine that %s after the abort is reported as aborted', async (_name, script) => {
  expect((await run(script, { signal: AbortSignal.abort() })).ending).toEqual({ type: 'aborted' });
});

test('an aborted engine that then falls silent is reported as aborted, not stalled', async () => {
  expect((await run(deaf, { signal: AbortSignal.abort(), idleMs: 5, graceMs: 50 })).ending).toEqual({ type: 'aborted' });
});

test('an engine is aborted when its events cannot be shown', async () => {
  let told: AbortSignal | undefined;
  const script: EngineScript = async function* (_request, signal) {
    told = signal;
    yield { type: 'delta', text: 'a' };
  };
  const show = () => {
    throw new Error('a fault of the reader');
  };
  await expect(runWith(script, show)).rejects.toThrow('fault');
  expect(told?.aborted).toBe(true);
});

const output = { reply: 1000, tool: 100, turn: 20_000 };
const tooLarge = { type: 'failed', failure: { code: 'engine_output_too_large' } };

const endless = (event: (n: number) => EngineEvent): EngineScript =>
  async function* (_request, signal) {
    for (let n = 0; !signal.aborted; n++) yield event(n);
    yield { type: 'aborted' };
  };

test('a reply is cut off at its limit, and the text up to it is passed on', async () => {
  for (const size of [1, 7, 999, 1001, 10_000_000]) {
    const { ending, events } = await run(
      endless(() => ({ type: 'delta', text: 'x'.repeat(size) })),
      { output: { ...output, turn: 1e9 } },
    );
    expect(ending).toMatchObject(tooLarge);
    const said = events.map((event) => (event.type === 'delta' ? event.text : '')).join('');
    expect(said).toBe('x'.repeat(1000));
  }
});

test.each<[string, (n: number) => EngineEvent]>([
  ['thinking', () => ({ type: 'thinking', text: 'hm' })],
  ['empty deltas', () => ({ type: 'delta', text: '' })],
  ['empty segments', () => ({ type: 'segment', text: '' })],
  ['sessions', (n) => ({ type: 'session', engineSessionId: String(n), resumed: false, model: null })],
  ['notices', () => ({ type: 'notice', code: 'other', message: 'again' })],
  ['tool calls', (n) => ({ type: 'tool', id: String(n), name: 'x', input: {} })],
  ['tool results', (n) => ({ type: 'tool_result', id: String(n), ok: true, output: 'x' })],
])('endless %s reach the output limit', async (_name, event) => {
  const { ending, events } = await run(endless(event), { output });
  expect(ending).toMatchObject(tooLarge);
  expect(events.length).toBeLessThan(400);
});

test('an engine over the output limit that does not end is not waited for', async () => {
  const script: EngineScript = async function* () {
    try {
      yield { type: 'delta', text: 'x'.repeat(2000) };
    } finally {
      await new Promise(() => undefined);
    }
  };
  const { ending } = await run(script, { output, graceMs: 60_000 });
  expect(ending).toMatchObject(tooLarge);
});

describe('last event before the output limit', () => {
  const tooMuch = function (told: (signal: AbortSignal) => void): EngineScript {
    return async function* (_request, signal) {
      told(signal);
      yield { type: 'delta', text: 'x'.repeat(2000) };
    };
  };

  test('is shown before the turn ends, after the engine was aborted', async () => {
    let signal: AbortSignal | undefined;
    const seen: unknown[] = [];
    const show = async () => {
      seen.push(signal?.aborted);
      await nextTurn();
      seen.push('shown');
    };
    expect(
      await runWith(
        tooMuch((told) => (signal = told)),
        show,
        { output },
      ),
    ).toMatchObject(tooLarge);
    expect(seen).toEqual([true, 'shown']);
  });

  test.each<[string, () => unknown]>([
    [
      'at once',
      () => {
        throw new Error('a fault of the reader');
      },
    ],
    ['later', () => Promise.reject(new Error('a fault of the reader'))],
  ])('fails the turn when it cannot be shown (%s)', async (_when, show) => {
    await expect(
      runWith(
        tooMuch(() => undefined),
        show,
        { output },
      ),
    ).rejects.toThrow('fault');
  });

  test('is not waited for longer than any other event', async () => {
    const ending = await runWith(
      tooMuch(() => undefined),
      () => new Promise(() => undefined),
      { output, idleMs: 5, graceMs: 5 },
    );
    expect(ending).toMatchObject({ type: 'failed' });
  });
});

test('an engine that sends very many events yields to the event loop', async () => {
  let turns = 0;
  let isDone = false;
  const count = () => (isDone ? undefined : void (turns++, setImmediate(count)));
  setImmediate(count);
  const manyDeltas: EngineScript = async function* () {
    for (let at = 0; at < 200_000; at++) yield { type: 'delta', text: 'a ' };
    yield { type: 'done' };
  };
  const { events } = await run(manyDeltas, { output: { reply: 1e9, tool: 1e9, turn: 1e9 } });
  isDone = true;
  expect(events).toHaveLength(200_000);
  expect(turns).toBeGreaterThan(1); // 0, if all came in one turn of the event loop
});

test('stall and turn timeouts pause while a person is asked, and continue afterwards', async () => {
  const clock = createFakeClock();
  const person = { waits: true, isWaiting: () => person.waits, waitedMs: () => Math.min(clock.elapsed(), 600_000) };
  const ended = run(deaf, { clock, person, idleMs: 1000, maxMs: 60_000, graceMs: 5 });
  let isOver = false;
  void ended.then(() => (isOver = true));
  clock.advance(600_000);
  await nextTurn();
  expect(isOver).toBe(false);
  person.waits = false;
  clock.advance(1500);
  expect((await ended).ending).toMatchObject({ failure: { code: 'engine_stalled' } });
});

test('repeated questions to a person do not extend a turn without limit', async () => {
  const clock = createFakeClock();
  const person = { isWaiting: () => true, waitedMs: () => 600_000 };
  const ended = run(deaf, { clock, person, idleMs: 1000, maxMs: 60_000, graceMs: 5 });
  clock.advance(700_000);
  expect((await ended).ending).toMatchObject({ failure: { code: 'turn_too_long' } });
});
