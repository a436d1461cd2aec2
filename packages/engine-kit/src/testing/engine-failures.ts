import { expect, test } from 'vitest';
import type { ScriptedReply } from '@svc/testing/model-server/scripted-reply.ts';
import type { EngineFailure } from '../engine.ts';
import { collectTurn } from './collect-turn.ts';
import type { EngineBench } from './engine-bench.ts';
import { engineRequest } from './engine-request.ts';

/** An answer of the vendor as documented, and what a person is to be told of it. */
export type UpstreamError = {
  name: string;
  reply: Extract<ScriptedReply, { status: number }>;
  code: EngineFailure['code'];
  says: RegExp;
  /** When the limit ends, s from now, where the vendor names a time. */
  endsIn?: number;
};

/** Past this somebody would think that nothing happens. */
const patienceMs = 10_000;

/** How the errors of the model service are told apart. Call it in a `describe`. */
export function testUpstreamErrors({ model, start }: EngineBench, errors: readonly UpstreamError[]): void {
  test.each(errors)('$name: the turn fails as $code, in words that say what to do', async ({ reply, code, says, endsIn }) => {
    const { engine, request } = start();
    model.script(() => reply);
    const before = performance.now();
    const { last } = await collectTurn(engine, engineRequest({ prompt: 'hi', ...request }));
    expect(performance.now() - before).toBeLessThan(patienceMs);
    expect(last).toMatchObject({ type: 'failed', failure: { code, message: expect.stringMatching(says) } });
    const retryAfterMs = last?.type === 'failed' ? last.failure.retryAfterMs : undefined;
    if (endsIn === undefined) expect(retryAfterMs).toBeUndefined();
    // The end stands fixed while the tests before this one run.
    else expect(Math.abs((retryAfterMs ?? 0) - endsIn * 1000)).toBeLessThan(Math.max(patienceMs, endsIn * 100));
  });
}

/** The end of a limit as an epoch second. */
export const inSeconds = (seconds: number): number => Math.round(Date.now() / 1000) + seconds;
