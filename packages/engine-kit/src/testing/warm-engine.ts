import { expect, test } from 'vitest';
import { collectTurn } from './collect-turn.ts';
import { hello, type EngineBench } from './engine-bench.ts';
import type { EngineLife } from './engine-life.ts';
import { engineRequest } from './engine-request.ts';
import { signalProcess } from '@svc/service-kit/process/signal-process.ts';

/** A program that does not answer is given five seconds, and some more to end; a call to it may take thirty. */
const hungLimitMs = 29_000;

/** Rules for a program that stays open between turns. Call it in a `describe`. */
export function testWarmEngine({ model, start }: EngineBench, { programs }: Pick<EngineLife, 'programs'>): void {
  /** A conversation after one turn, with its open program. */
  const open = async (fields: Parameters<typeof start>[0] = {}) => {
    const { engine, stateDir, request } = start(fields);
    model.script(() => hello);
    const { sessionId } = await collectTurn(engine, engineRequest({ prompt: 'one', ...request }));
    const running = () => programs({ stateDir, ...request });
    const [pid = 0] = running();
    expect(pid).toBeGreaterThan(0);
    const next = () => collectTurn(engine, engineRequest({ prompt: 'two', ...request, resume: sessionId }));
    return { engine, running, pid, sessionId, next };
  };
  const goesOn = (sessionId: string | null) => ({ text: 'hello', sessionId, last: { type: 'done' } });

  test('the next turn goes to the program that is open already, and none is left after close', async () => {
    const { engine, running, pid, sessionId, next } = await open();
    expect(await next()).toMatchObject(goesOn(sessionId));
    expect(running()).toEqual([pid]);
    await engine.close();
    expect(running()).toEqual([]);
  });

  test('a program that died between two turns is replaced, and the session goes on', async () => {
    const { running, pid, sessionId, next } = await open();
    signalProcess(pid, 'SIGKILL');
    expect(await next()).toMatchObject(goesOn(sessionId));
    expect(running()).not.toContain(pid);
  });

  test('a program that hangs between two turns is replaced, and the session goes on', async () => {
    const { running, pid, sessionId, next } = await open();
    signalProcess(pid, 'SIGSTOP');
    const before = performance.now();
    const result = await next();
    expect(result, JSON.stringify(result.last)).toMatchObject(goesOn(sessionId));
    expect(performance.now() - before).toBeLessThan(hungLimitMs);
    expect(running()).not.toContain(pid);
    expect(model.requests.at(-1)?.historyText).toContain('one');
  });

  test('a program that holds too much memory is replaced after its turn, and the session goes on', async () => {
    const { running, pid, sessionId, next } = await open({ warmMemory: 1024 * 1024 });
    await expect.poll(() => running()).toEqual([]);
    expect(await next()).toMatchObject(goesOn(sessionId));
    expect(running()).not.toContain(pid);
  });
}
