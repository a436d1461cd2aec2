import { Buffer } from 'node:buffer';

/** One write to a reader: consecutive items, in memory that all readers share. */
export type Portion = { count: number; bytes: number; text: string; frames: Buffer };

const portionBytes = 64 * 1024;
/** Engine.IO separates the packets of one response by this character, and `4` begins a message. JSON never contains the character unescaped. */
const nextMessage = '\u001E4';

/**
 * Items that some reader has not received yet, kept once for all readers. A reader is only a position in the log, so one
 * that does not read costs next to nothing.
 */
export type FeedLog = {
  add(item: string): void;
  /** The position after the last item. */
  readonly end: number;
  /** Characters of all items that were ever added. */
  readonly added: number;
  /** Characters that it contains now. */
  readonly kept: number;
  /** The next items for a reader at this position, which must be before the end. */
  portion(place: number): Portion;
  /** Drops items that every reader has received. */
  forgetBefore(place: number): void;
};

export function createFeedLog(): FeedLog {
  let items: string[] = [];
  let first = 0;
  let kept = 0;
  let added = 0;
  const portions = new Map<number, Portion>();

  const makePortion = (from: number): Portion => {
    let bytes = 0;
    let end = from;
    while (end < items.length && (end === from || bytes + (items[end]?.length ?? 0) <= portionBytes))
      bytes += items[end++]?.length ?? 0;
    const texts = items.slice(from, end);
    return { count: texts.length, bytes, text: texts.join(nextMessage), frames: Buffer.concat(texts.flatMap(toFrame)) };
  };
  return {
    add(item) {
      items.push(item);
      kept += item.length;
      added += item.length;
    },
    get end() {
      return first + items.length;
    },
    get added() {
      return added;
    },
    get kept() {
      return kept;
    },
    portion(place) {
      let portion = portions.get(place);
      if (portion === undefined) portions.set(place, (portion = makePortion(place - first)));
      return portion;
    },
    forgetBefore(place) {
      if (place <= first) return;
      for (const item of items.slice(0, place - first)) kept -= item.length;
      items = items.slice(place - first);
      first = place;
      for (const start of portions.keys()) if (start < place) portions.delete(start);
    },
  };
}

/** A WebSocket frame of a server (RFC 6455): a whole text, no mask. */
function toFrame(item: string): Buffer[] {
  const text = Buffer.from(`4${item}`);
  if (text.length < 126) return [Buffer.from([0x81, text.length]), text];
  const isLong = text.length > 0xff_ff;
  const head = Buffer.alloc(isLong ? 10 : 4);
  head.writeUInt16BE(0x81_00 | (isLong ? 127 : 126));
  if (isLong) head.writeBigUInt64BE(BigInt(text.length), 2);
  else head.writeUInt16BE(text.length, 2);
  return [head, text];
}
