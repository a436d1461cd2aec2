import type { RedactedKind } from '../placeholder.ts';

/** A place in a text: `from` is inclusive, `to` exclusive. */
export type Found = { from: number; to: number; kind: RedactedKind };

/**
 * What opens a place in the text where a secret may follow, which decides how long that place stays open:
 * - `token`: the word is in a run of characters without a space, which is checked when it ends;
 * - `mail`: like a token, but letters of any script belong to its run;
 * - `address`: like a token, but some way beyond its run where a password with spaces or other scripts may have begun;
 * - `assigned-token`: like a token, and the name that it is assigned to may precede it;
 * - `assignment`: an operator may follow the word, and a value the operator;
 * - `value`: the value follows the word at once;
 * - `line`: like an assignment whose value extends to the end of the line;
 * - `span`: the next two thousand characters;
 * - `phone`: digits with the punctuation of a telephone number;
 * - `key-block`: the word ends the head line of a private key.
 */
export type Opening =
  | 'token'
  | 'mail'
  | 'address'
  | 'assigned-token'
  | 'assignment'
  | 'value'
  | 'line'
  | 'span'
  | 'phone'
  | 'key-block';

/** Words are lower case and match in any case; with `isBound` only where no letter, digit or underscore precedes them. */
export type Trigger = { opening: Opening; words: readonly string[]; isBound?: boolean };

/** Searches a piece of text that one of its triggers has opened. Pieces are at most some 4 KiB long. */
export type DetectionRule = {
  id: string;
  triggers: readonly Trigger[];
  /** `hits`: where its keywords begin in the text, in order; searched for when not given. */
  find(text: string, hits?: readonly number[]): Found[];
};

/** Where any of the words begins. */
export function hitsIn(text: string, words: readonly string[]): number[] {
  const lower = text.toLowerCase();
  const hits = new Set<number>();
  for (const word of words) for (let at = lower.indexOf(word); at !== -1; at = lower.indexOf(word, at + 1)) hits.add(at);
  return [...hits].toSorted((a, b) => a - b);
}

/** Decides whether a match counts; if so, the group `secret` of the expression is masked. */
export type Accept = (secret: string, match: RegExpExecArray) => boolean;

/**
 * Maps the matches at the hits with `take`, in order and without overlaps. Null rejects a match, and a secret may then begin
 * within it. The expression is either sticky and begins at the keyword, or global, and then its matches may begin up to
 * `before` units before the keyword.
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

/** The places of the group `secret` in the accepted matches at the hits. */
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
