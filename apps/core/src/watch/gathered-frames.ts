import type { TurnBegin, TurnEnd } from '@svc/contract/session.ts';
import type { TurnProgress } from '@svc/contract/turn.ts';
import type { Clock } from '@svc/service-kit/clock.ts';

/** The body of a turn's frame. */
export type TurnFrameBody = TurnBegin | TurnProgress | TurnEnd;

type Deps = {
  clock: Pick<Clock, 'elapsed' | 'after'>;
  /** The shortest time between two batches, ms. */
  gatherMs(): number;
  write(turnId: string, body: TurnFrameBody): void;
};

/** Batches the frames of turns. Consecutive deltas of one turn are merged. */
export type GatheredFrames = {
  push(turnId: string, body: TurnFrameBody): void;
  /** Sends the waiting frames. */
  flush(): void;
  /** Discards the waiting frames. */
  drop(): void;
  close(): void;
};

export function createGatheredFrames({ clock, gatherMs, write }: Deps): GatheredFrames {
  let waiting: { turnId: string; body: TurnFrameBody }[] = [];
  let sentAt = Number.NEGATIVE_INFINITY;
  let cancelFlush: (() => void) | null = null;

  const flush = (): void => {
    cancelFlush?.();
    cancelFlush = null;
    if (waiting.length === 0) return;
    sentAt = clock.elapsed();
    for (const { turnId, body } of waiting.splice(0)) write(turnId, body);
  };

  return {
    push(turnId, body) {
      const last = waiting.at(-1);
      if (body.type === 'delta' && last?.body.type === 'delta' && last.turnId === turnId) {
        last.body = { type: 'delta', text: last.body.text + body.text };
        return;
      }
      waiting.push({ turnId, body });
      const pause = sentAt + gatherMs() - clock.elapsed();
      cancelFlush ??= clock.after(Math.max(0, pause), flush);
    },
    flush,
    drop: () => void (waiting = []),
    close: () => cancelFlush?.(),
  };
}
