/** Splits a growing text into pieces that can be spoken one after the other. */
export type Sentences = {
  /** The sentences completed so far. The result does not depend on how the text was split. */
  push(more: string): string[];
  /** The rest. */
  end(): string[];
  /** The text starts again. */
  reset(): void;
};

/** Maximum length of a piece. Its speech starts only once all of it is known, so it should be short. */
const longest = 280;
/** Only the next character shows that a sentence has ended. In scripts without spaces, the mark alone is enough. */
const boundary = /[.!?…]+["'”’»)\]*_]*(?=\s)|[。！？]+[”’」』）]*(?=[^。！？”’」』）])|\n/gu;
/** "3." begins a list item, and "e.g." or "J." is in the middle of a sentence. */
const isAbbreviation = /(?:^|[\s(])(?:\d{1,3}|\p{L}|\p{L}\.\p{L}|Dr|Mr|Mrs|Ms|Prof|St|vs|etc|bzw|ca|Nr)\.$/u;
const fence = '```';

/** Code is not spoken; people read it in the text. */
export function createSentences(max = longest): Sentences {
  let buffer = '';
  let isCode = false;

  /** Removes code at the beginning. False while its end is missing. */
  const skipCode = (): boolean => {
    if (!isCode) return true;
    const at = buffer.indexOf(fence);
    if (at === -1) {
      buffer = buffer.slice(-(fence.length - 1));
      return false;
    }
    isCode = false;
    buffer = buffer.slice(at + fence.length);
    return true;
  };

  const take = (length: number): string => {
    const piece = buffer.slice(0, length).trim();
    buffer = buffer.slice(length);
    return piece;
  };

  const next = (isLast: boolean): string | null => {
    if (!skipCode()) return null;
    const code = buffer.indexOf(fence);
    const end = endOfSentence(buffer, max, isLast);
    if (code !== -1 && (end === null || code < end)) {
      const before = take(code);
      buffer = buffer.slice(fence.length);
      isCode = true;
      return before;
    }
    return end === null ? null : take(end);
  };

  const drain = (isLast: boolean): string[] => {
    const pieces: string[] = [];
    for (let piece = next(isLast); piece !== null; piece = next(isLast)) if (/[\p{L}\p{N}]/u.test(piece)) pieces.push(piece);
    return pieces;
  };

  const reset = (): void => {
    buffer = '';
    isCode = false;
  };

  return {
    push(more) {
      buffer += more;
      return drain(false);
    },
    end() {
      const pieces = drain(true);
      reset();
      return pieces;
    },
    reset,
  };
}

/** Where the first sentence ends; null while this is unknown. */
function endOfSentence(text: string, max: number, isLast: boolean): number | null {
  const head = text.slice(0, max + 1);
  for (const { 0: sign, index } of head.matchAll(boundary)) {
    const end = index + sign.length;
    if (end > max) break;
    if (head.slice(0, end).trim() === '' || isAbbreviation.test(head.slice(0, end))) continue;
    return end;
  }
  // What follows the cut might be the rest of a fence.
  if (text.length > max + (isLast ? 0 : fence.length)) return lastPause(text, max);
  return isLast && text !== '' ? text.length : null;
}

/** Cuts a sentence that is too long at a natural pause, or between words, and never within a character. */
function lastPause(text: string, max: number): number {
  const head = text.slice(0, max);
  const pause = Math.max(head.lastIndexOf(', '), head.lastIndexOf('; '), head.lastIndexOf(': '));
  if (pause > max / 3) return pause + 1;
  const space = head.search(/\s\S*$/u);
  if (space > max / 3) return space + 1;
  return /[\uD800-\uDBFF]$/u.test(head) ? max - 1 : max;
}
