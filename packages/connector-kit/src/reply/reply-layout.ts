import { setImmediate as nextTurn } from 'node:timers/promises';
import { splitMessage } from '../split-message.ts';

export type LayoutOptions = {
  /** Maximum length of a message, as `lengthOf` counts it. */
  limit: number;
  /** Converts Markdown to the platform's form. Default: unchanged. */
  render?(markdown: string): string;
  /** Length of a rendered text as the platform counts it. Default: UTF-16 units. */
  lengthOf?(rendered: string): number;
  /**
   * Instead of `render`, for a platform whose form cannot be cut in the source: makes messages from a part of it of at most `limit` units.
   */
  toMessages?(markdown: string): string[];
};

/** A text as rendered messages within the limit. `cuts`: offsets in the text at which a new message always begins. */
export type Layout = {
  (text: string, cuts?: readonly number[]): string[];
  /** The same for a text of any length, without blocking the process. */
  inTurns(text: string, cuts?: readonly number[]): Promise<string[]>;
};

/** A shorter part of the source is not cut further. */
const shortest = 16;

/** Renders each part once, as long as it does not change. @throws RangeError for an invalid limit */
export function createLayout(options: LayoutOptions): Layout {
  const { limit, render = (text) => text, lengthOf = ({ length }) => length } = options;
  const { toMessages = (part) => fit(part, limit) } = options;
  if (!Number.isInteger(limit) || limit < 2) throw new RangeError('The limit of a message is at least two characters.');
  let rendered = new Map<string, string[]>();

  /** A part that is too long once rendered is cut again, at half the length. */
  function fit(part: string, most: number): string[] {
    const text = render(part);
    if (lengthOf(text) <= limit) return text.trim() === '' ? [] : [text];
    const half = Math.floor(Math.min(most, part.length) / 2);
    return half < shortest ? cutRendered(text, limit) : splitMessage(part, half).flatMap((each) => fit(each, half));
  }

  /** A short source that renders this long is not normal text: its rendered form is cut. */
  function cutRendered(text: string, most: number): string[] {
    return splitMessage(text, most).flatMap((each) =>
      lengthOf(each) <= limit || most < 4 ? [each] : cutRendered(each, most >> 1),
    );
  }

  function* layOut(text: string, cuts: readonly number[]): Generator<string[]> {
    const before = rendered;
    rendered = new Map();
    for (const block of blocksOf(text, cuts))
      for (const part of splitMessage(block, limit)) {
        const pieces = rendered.get(part) ?? before.get(part) ?? toMessages(part);
        rendered.set(part, pieces);
        yield pieces;
      }
  }

  const layout = (text: string, cuts: readonly number[] = []) => [...layOut(text, cuts)].flat();
  const inTurns = async (text: string, cuts: readonly number[] = []) => {
    const all: string[] = [];
    for (const pieces of layOut(text, cuts)) {
      all.push(...pieces);
      await nextTurn();
    }
    return all;
  };
  return Object.assign(layout, { inTurns });
}

function blocksOf(text: string, cuts: readonly number[]): string[] {
  const ends = [...cuts.filter((cut) => cut > 0 && cut < text.length), text.length];
  return ends.map((end, index) =>
    text
      .slice(ends[index - 1] ?? 0, end)
      .replace(/^\n+/, '')
      .trimEnd(),
  );
}
