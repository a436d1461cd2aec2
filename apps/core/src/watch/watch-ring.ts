import type { MaskedJson } from '@svc/service-kit/redaction/outbound-mask.ts';

/** A sent frame: its place, its turn (null for a notice), and its JSON. */
export type HeldFrame = { seq: number; turnId: string | null; type: string; json: MaskedJson };

/** Consecutive frames, and the place after them. `isBroken`: the frame at the requested place is no longer stored. */
export type RingPart = { frames: HeldFrame[]; next: number; isBroken: boolean };

export type RingLimits = { frames: number; chars: number };

const defaultLimits: RingLimits = { frames: 500, chars: 256 * 1024 };

/** The newest frames of one conversation, so that a watcher who was disconnected for a moment continues where it was. */
export interface WatchRing {
  /** Assigns the next place. */
  takePlace(): number;
  /** The place of the next frame. */
  next(): number;
  /** Stores a frame, in the order of places. */
  put(frame: HeldFrame): void;
  /** Reads frames from a place on, up to about `maxChars` together, and at least one when there is one. */
  read(place: number, maxChars: number): RingPart;
  /** Removes the text of a withdrawn turn, so that it is not sent again. */
  withdraw(turnId: string): void;
  /** Deletes all frames, including those still being written, without telling anybody that they are missing. */
  forget(): void;
  /** Drops all frames: watchers who have not received them are told that they are missing. */
  clear(): void;
  chars(): number;
}

const isText = ({ type }: HeldFrame) => type === 'delta' || type === 'segment';
const lengthOf = (frames: readonly HeldFrame[]) => frames.reduce((sum, { json }) => sum + json.length, 0);

/** `start`: the place of the first frame, beyond the places of all earlier rings of the conversation. */
export function createWatchRing(start: number, limits = defaultLimits): WatchRing {
  let held: HeldFrame[] = [];
  let next = start;
  /** Every frame from here on is stored, or was withdrawn. */
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
