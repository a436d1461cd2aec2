import { Buffer } from 'node:buffer';

/** One write to a reader: some items that follow each other, the same memory for all who get them. */
export type Portion = { count: number; bytes: number; text: string; frames: Buffer };

const portionBytes = 64 * 1024;
/** Engine.IO: the packets of one answer are parted by this character, and `4` begins a message. JSON holds neither raw. */
const nextMessage = '\u001E4';

/**
 * Items that some reader has not been given yet, kept once for all of them. A reader is a place in it, so one that does
 * not read costs next to nothing, and all of them together hold no more than this.
 */
export type FeedLog = {
  add(item: string): void;
  /** The place after the last item. */
  readonly end: number;
  /** Characters of all items that were ever added. */
  readonly added: number;
  /** Characters it holds. */
  readonly kept: number;
  /** What comes next for a reader that stands here, before the end. */
  portion(place: number): Portion;
  /** Everybody is here or further. */
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
