import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineEvent, EngineRequest } from '@svc/engine-kit/engine.ts';
import { stampOf } from './stamp.ts';

/** A script of the offline engine whose every delta says when it was made: `<count> <gap ms>` is the message. */
export async function* respond({ text }: EngineRequest, signal: AbortSignal): AsyncGenerator<EngineEvent> {
  const [count = 1, gapMs = 0] = text.split(' ').map(Number);
  let whole = '';
  for (let n = 0; n < count; n++) {
    await sleep(gapMs, undefined, { signal });
    const stamp = stampOf((performance.timeOrigin + performance.now()) % 1e6);
    whole += stamp;
    yield { type: 'delta', text: stamp };
  }
  yield { type: 'segment', text: whole };
}
