import type { RedactedKind } from '../placeholder.ts';

/** A place in a text, `from` included, `to` not. */
export type Found = { from: number; to: number; kind: RedactedKind };

/**
 * What opens a place in the text in which something secret may follow, and with it how long that place stays open:
 * - `token`: the word begins (or stands in) a run of characters without a space, which is looked at when it ends;
 * - `assigned-token`: the same, and the name that it is assigned to may stand before it;
 * - `assignment`: an operator may follow the word, and a value the operator;
 * - `value`: the value follows the word at once;
 * - `line`: like an assignment whose value goes on to the end of the line;
 * - `span`: the next two thousand characters;
 * - `phone`: a row of digits with the signs that stand in a telephone number;
 * - `key-block`: the word ends the head line of a private key.
 */
export type Opening = 'token' | 'assigned-token' | 'assignment' | 'value' | 'line' | 'span' | 'phone' | 'key-block';

/** Words are lower case and found in any case; with `isBound` only where no letter, digit or underscore is before them. */
export type Trigger = { opening: Opening; words: readonly string[]; isBound?: boolean };

/** Looks at a piece of text that was opened by one of its triggers. Pieces are at most some 4 KiB long. */
export type DetectionRule = {
  id: string;
  triggers: readonly Trigger[];
  /** `hits`: where its keywords begin in the text, in order; looked for when they are not known. */
  find(text: string, hits?: readonly number[]): Found[];
};

/** Where any of some words begins. */
export function hitsIn(text: string, words: readonly string[]): number[] {
  const lower = text.toLowerCase();
  const hits = new Set<number>();
  for (const word of words) for (let at = lower.indexOf(word); at !== -1; at = lower.indexOf(word, at + 1)) hits.add(at);
  return [...hits].toSorted((a, b) => a - b);
}

/** What an accepted match of a rule is; the group `secret` of its expression is masked. */
export type Accept = (secret: string, match: RegExpExecArray) => boolean;

/**
 * Matches at the hits, one after the other and never within another. The expression is sticky and begins at the keyword, or
 * global, and then its matches begin up to `before` units further to the front.
 */
export function* matchesAt(regex: RegExp, text: string, hits: readonly number[], before = 0): Generator<RegExpExecArray> {
  let done = 0;
  for (const hit of hits) {
    if (hit < done) continue;
    regex.lastIndex = regex.sticky ? hit : Math.max(done, hit - before);
    const match = regex.exec(text);
    if (match === null && !regex.sticky) return;
    if (match === null) continue;
    done = match.index + match[0].length;
    yield match;
  }
}

/** The places of the group `secret` at the hits that are accepted. */
export function findAt(
  { regex, kind, before = 0, accept = () => true }: { regex: RegExp; kind: RedactedKind; before?: number; accept?: Accept },
  text: string,
  hits: readonly number[],
): Found[] {
  const found: Found[] = [];
  for (const match of matchesAt(regex, text, hits, before)) {
    const secret = match.groups?.['secret'];
    const place = match.indices?.groups?.['secret'];
    if (secret !== undefined && place !== undefined && accept(secret, match)) found.push({ from: place[0], to: place[1], kind });
  }
  return found;
}
