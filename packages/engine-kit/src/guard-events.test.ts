import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { EngineEvent } from './engine.ts';
import { guardEvents, type GuardOptions } from './guard-events.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const limits = { retryingMs: 100, modelMs: 1000, toolMs: 5000 };

async function collect(
  source: (signal: AbortSignal) => AsyncIterable<EngineEvent>,
  signal = new AbortController().signal,
  options: GuardOptions = {},
) {
  const events: EngineEvent[] = [];
  for await (const event of guardEvents(source, signal, { limits, ...options })) events.push(event);
  return events;
}

const untilAbort = (signal: AbortSignal) => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));

describe('guardEvents()', () => {
  test('drops events after the terminal one', async () => {
    const events = await collect(async function* () {
      yield { type: 'done' };
      yield { type: 'delta', text: 'late' };
    });
    expect(events).toEqual([{ type: 'done' }]);
  });

  test('yields the terminal event after the engine has cleaned up', async () => {
    const order: string[] = [];
    const source = async function* (): AsyncGenerator<EngineEvent> {
      try {
        yield { type: 'done' };
      } finally {
        await Promise.resolve();
        order.push('tidy');
      }
    };
    for await (const { type } of guardEvents(source, new AbortController().signal)) order.push(type);
    expect(order).toEqual(['tidy', 'done']);
  });

  test('turns an exception into a failed turn', async () => {
    const events = await collect(async function* () {
      yield { type: 'delta', text: 'a' };
      throw new Error('boom');
    });
    expect(events.at(-1)).toMatchObject({
      type: 'failed',
      failure: { code: 'engine_crashed', message: expect.stringContaining('boom') },
    });
  });

  test('turns a stream without a terminal event into a failed turn', async () => {
    expect(await collect(async function* () {})).toMatchObject([{ type: 'failed' }]);
  });

  test('reports a failure caused by the abort as aborted', async () => {
    const controller = new AbortController();
    const turn = collect(async function* (signal) {
      yield { type: 'delta', text: 'a' };
      await untilAbort(signal);
      throw new Error('cut');
    }, controller.signal);
    await vi.advanceTimersByTimeAsync(1);
    controller.abort();
    expect((await turn).at(-1)).toEqual({ type: 'aborted' });
  });

  test('abandons an engine that ignores the abort after the grace period', async () => {
    const controller = new AbortController();
    const turn = collect(
      async function* () {
        await new Promise(() => {});
      },
      controller.signal,
      { abortGraceMs: 50 },
    );
    controller.abort();
    await vi.advanceTimersByTimeAsync(50);
    expect(await turn).toEqual([{ type: 'aborted' }]);
  });

  const tool: EngineEvent = { type: 'tool', id: '1', name: 'shell', input: {} };
  const retry: EngineEvent = { type: 'notice', code: 'retry', message: '' };
  test.each([
    ['a silent model', [], limits.modelMs],
    ['a running tool', [tool], limits.toolMs],
    ['a tool that came back', [tool, { type: 'tool_result', id: '1', ok: true, output: '' }], limits.modelMs],
    ['an endpoint in trouble', [retry], limits.retryingMs],
  ] satisfies [string, EngineEvent[], number][])('stops %s after its own limit', async (_name, before, ms) => {
    let stopped = false;
    const turn = collect(async function* (signal) {
      yield* before;
      await untilAbort(signal);
      stopped = true;
    });
    await vi.advanceTimersByTimeAsync(ms - 1);
    expect(stopped).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect((await turn).at(-1)).toMatchObject({ type: 'failed', failure: { code: 'engine_stalled' } });
    expect(stopped).toBe(true);
  });
});
