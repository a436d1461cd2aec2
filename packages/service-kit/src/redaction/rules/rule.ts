import type { RedactedKind } from '../placeholder.ts';

/** A place in a text, `from` included, `to` not. */
export type Found = { from: number; to: number; kind: RedactedKind };

/**
 * What opens a place in the text in which something secret may follow, and with it how long that place stays open:
 * - `token`: the word begins (or stands in) a run of characters without a space, which is looked at when it ends;
 * - `address`: like a token, and where a password with spaces or other scripts in it may have begun, some way beyond its run;
 * - `assigned-token`: the same, and the name that it is assigned to may stand before it;
 * - `assignment`: an operator may follow the word, and a value the operator;
 * - `value`: the value follows the word at once;
 * - `line`: like an assignment whose value goes on to the end of the line;
 * - `span`: the next two thousand characters;
 * - `phone`: a row of digits with the signs that stand in a telephone number;
 * - `key-block`: the word ends the head line of a private key.
 */
export type Opening = 'token' | 'address' | 'assigned-token' | 'assignment' | 'value' | 'line' | 'span' | 'phone' | 'key-block';

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
 * What `take` makes of the matches at the hits, one after the other and never within another; null refuses a match, and a
 * secret may begin within it then. The expression is sticky and begins at the keyword, or global, and then its matches
 * begin up to `before` units further to the front.
 */
export function takeAt<T>(
  { regex, before = 0 }: { regex: RegExp; before?: number },
  text: string,
  hits: readonly number[],
  take: (match: RegExpExecArray, least: number) => T | null,
): T[] {
  const taken: T[] = [];
  let done = 0;
  let least = 0;
  for (const hit of hits) {
    if (hit < done) continue;
    regex.lastIndex = regex.sticky ? hit : Math.max(least, hit - before);
    const match = regex.exec(text);
    if (match === null && !regex.sticky) break;
    if (match === null) continue;
    const one = take(match, done);
    if (one !== null) taken.push(one);
    if (one !== null) done = match.index + match[0].length;
    least = one === null ? match.index + 1 : done;
  }
  return taken;
}

/** The places of the group `secret` at the hits that are accepted. */
export const findAt = (
  { accept = () => true, kind, ...pattern }: { regex: RegExp; kind: RedactedKind; before?: number; accept?: Accept },
  text: string,
  hits: readonly number[],
): Found[] =>
  takeAt(pattern, text, hits, (match) => {
    const secret = match.groups?.['secret'];
    const place = match.indices?.groups?.['secret'];
    if (secret === undefined || place === undefined || !accept(secret, match)) return null;
    return { from: place[0], to: place[1], kind };
  });
