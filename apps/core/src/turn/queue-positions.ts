import type { Clock } from '@svc/service-kit/clock.ts';
import type { ShortLivedMap } from '@svc/service-kit/short-lived-map.ts';
import type { Place } from './turn-place.ts';

type Deps = { lines: Pick<ShortLivedMap<string, readonly Place[]>, 'get' | 'values'>; forSlot: readonly Place[]; clock: Clock };

/** Reports to waiting turns how many are ahead of them. */
export type QueuePositions = {
  report(place: Place): void;
  /** The lines have moved: reports to all waiting turns soon. */
  reportSoon(): void;
  close(): void;
};

/** Waiting turns get a new position at most this often, ms. */
const reportEveryMs = 1000;

export function createQueuePositions({ lines, forSlot, clock }: Deps): QueuePositions {
  let cancel: (() => void) | null = null;

  const report = (place: Place): void => {
    const inLine = lines.get(place.key)?.indexOf(place) ?? 0;
    const position = inLine > 0 ? inLine : forSlot.indexOf(place) + 1;
    if (place.waiting === null || position === place.waiting.told) return;
    place.waiting.told = position;
    place.waiting.onQueued(position);
  };

  return {
    report,
    reportSoon(): void {
      cancel ??= clock.after(reportEveryMs, () => {
        cancel = null;
        for (const line of lines.values()) for (const place of line) if (place.state === 'waiting') report(place);
      });
    },
    close: () => cancel?.(),
  };
}
