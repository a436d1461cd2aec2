const marker = '[[NO_REPLY]]';
/** Models put the marker in bold, in code or in quotes, or add a full stop: whitespace and such characters after it do not count as text. */
const isNoText = (text: string): boolean => /^[\s*_`~"'.]*$/.test(text);

export type SilenceFilter = {
  push(text: string): string;
  /** The rest of a finished block, and whether it ended with the marker. */
  end(): { text: string; silent: boolean };
};

/**
 * Keeps the marker of silence out of a stream, however it is cut: an end of the text that could still become the marker
 * (or whitespace and punctuation after it) is held back. A marker in the middle of a text is dropped and means nothing.
 */
export function createSilenceFilter(): SilenceFilter {
  let held = '';
  /** What is held ends with the marker, or with whitespace and punctuation after it. */
  let isMarked = false;
  return {
    push(text) {
      held += text;
      if (isMarked && isNoText(text)) return ''; // not searched again, however much follows
      const last = held.lastIndexOf(marker);
      const after = last === -1 ? held : held.slice(last + marker.length);
      isMarked = last !== -1 && isNoText(after);
      if (isMarked) {
        // It may be the end of the reply: keep the marker until more text shows that it is not.
        const out = held.slice(0, last).replaceAll(marker, '');
        held = held.slice(last);
        return out;
      }
      const keep = partialMarkerLength(after);
      const out = held.slice(0, held.length - keep).replaceAll(marker, '');
      held = held.slice(held.length - keep);
      return out;
    },
    end() {
      const silent = isMarked;
      const text = held.replaceAll(marker, '');
      held = '';
      isMarked = false;
      return { text: silent ? '' : text, silent };
    },
  };
}

/** Length of the longest end of `text` with which the marker begins. */
function partialMarkerLength(text: string): number {
  for (let length = Math.min(marker.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(marker.slice(0, length))) return length;
  }
  return 0;
}
