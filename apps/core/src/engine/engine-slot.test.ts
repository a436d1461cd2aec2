import { describe, expect, test, vi } from 'vitest';
import type { Engine, EngineEvent, EngineRequest } from '@svc/engine-kit/engine.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createScriptedEngine } from '@svc/testing/scripted-engine.ts';
import { createEngineSlot } from './engine-slot.ts';

const done: EngineEvent = { type: 'done' };
const request = { text: 'hi', conversationKey: 'k' } as EngineRequest;

/** A slot whose engines say their number, then wait for `goOn()`. */
function open() {
  const made: { engine: Engine; close: ReturnType<typeof vi.fn>; goOn: () => void }[] = [];
  const clock = createFakeClock();
  const onCloseFailed = vi.fn();
  const make = vi.fn(() => {
    const number = made.length + 1;
    const gate = Promise.withResolvers<void>();
    const engine = createScriptedEngine('codex');
    engine.script(async function* () {
      yield { type: 'delta', text: String(number) };
      await gate.promise;
      yield done;
    });
    const close = vi.fn(() => Promise.resolve());
    made.push({ engine: { ...engine, close }, close, goOn: gate.resolve });
    return Promise.resolve(made.at(-1)!.engine);
  });
  const slot = createEngineSlot({ id: 'codex', make, clock, onCloseFailed });
  /** Starts a turn and gives its first word; `end` reads the rest. */
  const begin = async (signal = new AbortController().signal) => {
    const events = slot.engine.run(request, signal)[Symbol.asyncIterator]();
    const first = await events.next();
    const end = async () => {
      await events.next();
      await events.return?.();
    };
    return { said: first.value as EngineEvent, end, events };
  };
  return { slot, made, make, clock, begin, onCloseFailed };
}

describe('engine slot', () => {
  test('makes its engine once for concurrent callers', async () => {
    const { slot, make } = open();
    await Promise.all([slot.ready(), slot.ready(), slot.engine.probe()]);
    expect(make).toHaveBeenCalledTimes(1);
  });

  test('reports no ask abilities until its engine is made', async () => {
    const { slot } = open();
    expect(slot.engine.asks).toBeUndefined();
    await slot.ready();
    expect(slot.engine.asks).toEqual(['dangerous', 'always']);
  });

  test('lets a running turn finish on its engine, and gives the next turn the renewed one', async () => {
    const { slot, made, begin } = open();
    const first = await begin();
    slot.renew();
    const second = await begin();
    expect([first.said, second.said]).toEqual([
      { type: 'delta', text: '1' },
      { type: 'delta', text: '2' },
    ]);
    expect(made[0]?.close).not.toHaveBeenCalled();
    made[0]?.goOn();
    await first.end();
    await expect.poll(() => made[0]?.close).toHaveBeenCalledTimes(1);
    expect(made[1]?.close).not.toHaveBeenCalled();
  });

  test('closes a replaced engine without turns at once', async () => {
    const { slot, made } = open();
    await slot.ready();
    slot.renew();
    await expect.poll(() => made[0]?.close).toHaveBeenCalledTimes(1);
  });

  test('is idle when the last turn of both the old and the new engine has ended', async () => {
    const { slot, made, begin } = open();
    const first = await begin();
    slot.renew();
    const second = await begin();
    const idle = vi.fn();
    const waiting = slot.idle().then(idle);
    expect(slot.runs()).toBe(2);
    made[1]?.goOn();
    await second.end();
    expect([slot.runs(), idle.mock.calls.length]).toEqual([1, 0]);
    made[0]?.goOn();
    await first.end();
    await waiting;
    expect(slot.runs()).toBe(0);
  });

  test('waits at most ten seconds for an aborted turn that does not end', async () => {
    const { slot, clock, begin } = open();
    const ending = new AbortController();
    await begin(ending.signal);
    ending.abort();
    clock.advance(9_999);
    expect(slot.runs()).toBe(1);
    clock.advance(1);
    expect(slot.runs()).toBe(0);
  });

  test('retries to make an engine for the next caller, and fails the turn in between', async () => {
    const { slot, make } = open();
    make.mockRejectedValueOnce(new Error('no disk'));
    const events: EngineEvent[] = [];
    for await (const event of slot.engine.run(request, new AbortController().signal)) events.push(event);
    expect(events).toMatchObject([{ type: 'failed', failure: { message: expect.stringContaining('no disk') } }]);
    await slot.ready();
    expect(make).toHaveBeenCalledTimes(2);
  });

  test('reports an engine that fails to close, and continues', async () => {
    const { slot, made, onCloseFailed } = open();
    await slot.ready();
    made[0]?.close.mockRejectedValueOnce(new Error('stuck'));
    await slot.engine.close();
    expect(onCloseFailed).toHaveBeenCalledTimes(1);
  });
});
