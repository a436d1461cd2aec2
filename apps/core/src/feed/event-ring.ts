import type { TelemetryEvent } from '@svc/contract/event.ts';
import { sseFrame } from '@svc/service-kit/http/sse.ts';
import type { MaskedJson, OutboundMask } from '@svc/service-kit/redaction/outbound-mask.ts';

export type RingLimits = { events: number; chars: number };

/** Some events as frames, and the place behind them. `isBroken`: events before the first one are gone. */
export type RingPart = { frames: string[]; lastId: string | null; next: number; isBroken: boolean };

type Held = { id: string; kind: string; line: MaskedJson };

const defaultLimits: RingLimits = { events: 2000, chars: 2 * 1024 * 1024 };

/** One event as an SSE frame. A line of JSON has no line break, so no text can forge a frame. */
export const eventFrame = ({ kind, id }: Pick<TelemetryEvent, 'kind' | 'id'>, line: MaskedJson): string =>
  sseFrame(kind, line, id);

/**
 * The newest events in memory, so that a reader who was away for a moment goes on where it was. Every event has a
 * place, a number that rises by one; places do not survive the process. Only the finished lines are held: their
 * length is known, and they keep nothing else alive.
 */
export type EventRing = {
  /** On the path of every turn: no more than a push. */
  push(event: Pick<TelemetryEvent, 'id' | 'kind'>, line: MaskedJson): void;
  /** The place of the oldest event that is held. */
  first(): number;
  /** The place of the next event to come. */
  end(): number;
  /** The place behind an event; null when it is not held. */
  placeAfter(id: string): number | null;
  /** Events from a place on, until they have `maxChars` together, at least one when there is one. */
  read(place: number, maxChars: number): RingPart;
};

export function createEventRing(mask: Pick<OutboundMask, 'jsonText'>, limits = defaultLimits): EventRing {
  const slots = Array.from<Held | undefined>({ length: limits.events });
  let first = 0;
  let end = 0;
  let chars = 0;
  const at = (place: number) => slots[place % limits.events];

  const dropFirst = () => {
    chars -= at(first)?.line.length ?? 0;
    slots[first % limits.events] = undefined;
    first++;
  };

  return {
    push({ id, kind }: Pick<TelemetryEvent, 'id' | 'kind'>, line: MaskedJson): void {
      if (end - first === limits.events) dropFirst();
      slots[end % limits.events] = { id, kind, line };
      end++;
      chars += line.length;
      while (chars > limits.chars) dropFirst();
    },

    first: () => first,
    end: () => end,

    placeAfter(id: string): number | null {
      for (let place = end - 1; place >= first; place--) if (at(place)?.id === id) return place + 1;
      return null;
    },

    read(place: number, maxChars: number): RingPart {
      const frames: string[] = [];
      let next = Math.max(place, first);
      let length = 0;
      for (let held = at(next); next < end && held !== undefined && length < maxChars; held = at(next)) {
        frames.push(eventFrame(held, mask.jsonText(held.line))); // a secret may have become known since it was held
        length += held.line.length;
        next++;
      }
      return { frames, lastId: at(next - 1)?.id ?? null, next, isBroken: place < first };
    },
  };
}
