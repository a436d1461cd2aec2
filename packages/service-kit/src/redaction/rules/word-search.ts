import { buildStates } from '../keyword-table.ts';

export type WordSearch = { isIn(text: string): boolean };

const ascii = 128;

/** Whether any of many words stands in a text, in small letters or capitals: one look-up for each unit. */
export function createWordSearch(words: readonly string[]): WordSearch {
  const classes = new Uint8Array(ascii);
  let width = 1;
  const classOf = (unit: number): number => (classes[unit] ||= width++);
  const paths = words.map((word) => Array.from(word.toLowerCase(), (char) => classOf(char.charCodeAt(0))));
  for (let unit = 65; unit <= 90; unit++) classes[unit] = classes[unit + 32]!;
  const { next, ends } = buildStates(paths, width);
  const table = Uint16Array.from(next);
  const isEnd = Uint8Array.from(ends, (list) => (list.length > 0 ? 1 : 0));

  return {
    isIn(text) {
      let state = 0;
      for (let i = 0; i < text.length; i++) {
        const unit = text.charCodeAt(i);
        state = table[state * width + (unit < ascii ? classes[unit]! : 0)]!;
        if (isEnd[state] === 1) return true;
      }
      return false;
    },
  };
}
