import { Buffer } from 'node:buffer';

/** One write to a reader: some items that follow each other, the same memory for all who get them. */
export type Portion = { count: number; bytes: number; text: string; frames: Buffer };

const portionBytes = 64 * 1024;
/** Engine.IO: the packets of one answer are parted by this character, and `4` begins a message. JSON holds neither raw. */
const nextMessage = '\u001E4';

export type FeedLog = ReturnType<typeof createFeedLog>;

/**
 * What has been told and not every reader has yet, kept once for all of them. A reader is a place in it, so one that does
 * not read costs next to nothing, and all of them together hold no more than this.
 */
export function createFeedLog() {
  let items: string[] = [];
  let first = 0;
  let kept = 0;
  let told = 0;
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
    add(item: string): void {
      items.push(item);
      kept += item.length;
      told += item.length;
    },
    /** The place after the last item, and the length of all that was ever told. */
    get end() {
      return first + items.length;
    },
    get told() {
      return told;
    },
    /** Characters it holds. */
    get kept() {
      return kept;
    },
    /** What comes next for a reader that stands here, before the end. */
    portion(place: number): Portion {
      let portion = portions.get(place);
      if (portion === undefined) portions.set(place, (portion = makePortion(place - first)));
      return portion;
    },
    /** Everybody is here or further. */
    forgetBefore(place: number): void {
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
