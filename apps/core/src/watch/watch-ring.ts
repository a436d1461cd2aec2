import type { MaskedJson } from '@svc/service-kit/redaction/outbound-mask.ts';

/** A frame as it left: its place, the turn it is of (null for a notice), and its JSON. */
export type HeldFrame = { seq: number; turnId: string | null; type: string; json: MaskedJson };

/** Some frames, and the place behind them. `isBroken`: what stood at the place that was asked for is not held. */
export type RingPart = { frames: HeldFrame[]; next: number; isBroken: boolean };

export type RingLimits = { frames: number; chars: number };

const defaultLimits: RingLimits = { frames: 500, chars: 256 * 1024 };

/** The newest frames of one conversation, so that a watcher who was away for a moment goes on where it was. */
export interface WatchRing {
  /** Gives the next frame its place. */
  takePlace(): number;
  /** The place of the next frame to come. */
  next(): number;
  /** Holds a frame, in the order of the places. */
  put(frame: HeldFrame): void;
  /** Frames from a place on, until they have `maxChars` together, at least one when there is one. */
  read(place: number, maxChars: number): RingPart;
  /** The text of a turn was withdrawn: it is not given again. */
  withdraw(turnId: string): void;
  /** What was said is forgotten, also what is only now being written: nobody is told that it is missing. */
  forget(): void;
  /** Nothing that was held is given again: who has not had it is told that it is missing. */
  clear(): void;
  chars(): number;
}

const isText = ({ type }: HeldFrame) => type === 'delta' || type === 'segment';
const lengthOf = (frames: readonly HeldFrame[]) => frames.reduce((sum, { json }) => sum + json.length, 0);

/** `start`: the place of the first frame. One that no earlier ring of the conversation has come to. */
export function createWatchRing(start: number, limits = defaultLimits): WatchRing {
  let held: HeldFrame[] = [];
  let next = start;
  /** Everything from here on is held, or was withdrawn. */
  let floor = start;
  let chars = 0;
  let forgottenBefore = start;

  const keep = (frames: HeldFrame[]) => {
    held = frames;
    chars = lengthOf(frames);
  };
  const dropFirst = () => {
    const first = held.shift();
    if (first === undefined) return;
    chars -= first.json.length;
    floor = first.seq + 1;
  };

  return {
    takePlace: () => next++,
    next: () => next,
    put(frame) {
      if (frame.seq < Math.max(floor, forgottenBefore)) return;
      held.push(frame);
      chars += frame.json.length;
      while (held.length > limits.frames || (chars > limits.chars && held.length > 1)) dropFirst();
    },
    read(place, maxChars) {
      if (!(place >= floor && place <= next)) return { frames: [], next, isBroken: true };
      let at = held.length;
      while (at > 0 && held[at - 1]!.seq >= place) at--;
      const frames: HeldFrame[] = [];
      for (let length = 0; at < held.length && length < maxChars; at++) {
        frames.push(held[at]!);
        length += held[at]!.json.length;
      }
      return { frames, next: (frames.at(-1)?.seq ?? place - 1) + 1, isBroken: false };
    },
    withdraw: (turnId) => keep(held.filter((frame) => frame.turnId !== turnId || !isText(frame))),
    forget() {
      forgottenBefore = next;
      keep([]);
    },
    clear() {
      keep([]);
      floor = next;
    },
    chars: () => chars,
  };
}
