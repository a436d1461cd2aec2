import { setImmediate as nextTurn } from 'node:timers/promises';
import { splitMessage } from '../split-message.ts';

export type LayoutOptions = {
  /** Longest message of the platform, as `lengthOf` counts it. */
  limit: number;
  /** Markdown as the platform writes it; as it is unless given. */
  render?(markdown: string): string;
  /** How the platform counts a rendered text; in UTF-16 units unless given. */
  lengthOf?(rendered: string): number;
  /** In place of `render`, for a platform whose form cannot be cut in the source: messages from a part of it, which has at most `limit` units. */
  toMessages?(markdown: string): string[];
};

/** A text as messages, rendered, none over the limit. `cuts`: places of the text at which a new message begins whatever fits. */
export type Layout = {
  (text: string, cuts?: readonly number[]): string[];
  /** The same of any length, without holding up the rest of the process. */
  inTurns(text: string, cuts?: readonly number[]): Promise<string[]>;
};

/** Below it a part of the source is not cut any further. */
const shortest = 16;

/** Renders a part once, as long as it stays the same. @throws RangeError for an invalid limit */
export function createLayout(options: LayoutOptions): Layout {
  const { limit, render = (text) => text, lengthOf = ({ length }) => length } = options;
  const { toMessages = (part) => fit(part, limit) } = options;
  if (!Number.isInteger(limit) || limit < 2) throw new RangeError('The limit of a message is at least two characters.');
  let rendered = new Map<string, string[]>();

  /** What grows by rendering is cut again, at half the length. */
  function fit(part: string, most: number): string[] {
    const text = render(part);
    if (lengthOf(text) <= limit) return text.trim() === '' ? [] : [text];
    const half = Math.floor(Math.min(most, part.length) / 2);
    return half < shortest ? cutRendered(text, limit) : splitMessage(part, half).flatMap((each) => fit(each, half));
  }

  /** A few words that are rendered at such length are no words of anybody: they are cut as they are. */
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
