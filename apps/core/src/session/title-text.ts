import path from 'node:path';
import type { Attachment } from '@svc/contract/envelope.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';

/** Longest title that the service gives, in UTF-16 units. */
export const maxTitle = 60;
/** What a model says that was asked for a title and is longer is an answer, not a title. */
const longestSaid = 120;
/** What a title is looked for in: more than a mask has to see to be sure of the first thousand characters. */
const maxSource = 20_000;
/** More of a line is not looked at. */
const maxLine = 500;

/** `said`: what the sender wrote of `text`, where the channel says more in it. */
type TitleContent = { text: string; said?: string; attachments?: readonly Attachment[] };

/**
 * What a title is taken from: the sender's words, or the name of the first file where there are none. Places of files on this
 * machine are not part of it.
 */
export function titleSource({ text, said, attachments = [] }: TitleContent): string {
  let plain = cutText(said ?? text, maxSource);
  for (const file of attachments) plain = plain.replaceAll(file.path, () => fileName(file));
  const [first] = attachments;
  return plain.trim() === '' && first !== undefined ? fileName(first) : plain;
}

const fileName = ({ name, path: file }: Attachment): string => path.posix.basename((name ?? file).replaceAll('\\', '/'));

/** The first words of a text on one line, whole ones where one fits; null when there is nothing to see. */
export function firstWords(text: string): string | null {
  const line = oneLine(text);
  if (!canBeSeen.test(line)) return null;
  if (line.length <= maxTitle) return line;
  const end = line.lastIndexOf(' ', maxTitle);
  return end > 0 ? line.slice(0, end).replace(/[\s,;:–—-]+$/u, '') || line.slice(0, end) : beginning(line);
}

/** The title in what a model says that was asked for one; null when it said something else. */
export function titleSaid(text: string): string | null {
  const line = lineSaid(text);
  return line.length > longestSaid || isNoTitle.test(line) ? null : firstWords(line);
}

/** The first line of it, without what models put around a title: their thoughts, a heading, quotes, a full stop. */
export function lineSaid(text: string): string {
  const said = text.replaceAll(/<think(?:ing)?>[\s\S]*?(?:<\/think(?:ing)?>|$)/gi, '');
  const line =
    said
      .split(/[\n\r\u0085\u2028\u2029]/)
      .map(oneLine)
      .find((one) => /[\p{L}\p{N}\p{S}]/u.test(one)) ?? '';
  return bare(bare(cutText(line, maxLine)).replace(/^(?:title|titel|titre|título|titolo)\s*[:：]\s*/i, ''));
}

const bare = (line: string): string => line.replace(/^["'“”„‘’«»`#*_>\s]+/u, '').replace(/["'“”„‘’«»`*_.。\s]+$/u, '');

/** Refusals and the like, as the models of today begin them. */
const isNoTitle =
  /^(?:i(?:['’]m| am) (?:sorry|unable|not able|afraid)|i (?:can(?:not|['’]t)|won['’]t|do not|don['’]t)\b|sorry\b|unfortunately\b|as an ai\b|i apologi[sz]e|please provide|write a title|api error|\[\[no_reply|(?:no title|untitled|none|null|undefined|n\/a|title)$|$)/i;

/** Without what cannot be seen, and without breaks. Joiners and the looks of emoji stay. */
function oneLine(text: string): string {
  const trimmed = text.trim();
  return isOneLine.test(trimmed) ? trimmed : madeOneLine(trimmed);
}

/** Words of ASCII with single spaces between them, as most lines are. Every new conversation is asked. */
const isOneLine = /^[!-~]+(?: [!-~]+)*$/;

const madeOneLine = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[[\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]--[\ufe0e-\ufe0f]--[\u200c-\u200d]]/gv, '')
    .replaceAll(/[[\p{C}\p{Z}\s]--[\u200c-\u200d]]+/gv, ' ')
    .trim();

const canBeSeen = /[\p{L}\p{N}\p{P}\p{S}]/u;

/** For a script without spaces: as many whole characters as fit. */
function beginning(line: string): string {
  let taken = '';
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(line.slice(0, 2 * maxTitle))) {
    if (taken.length + segment.length > maxTitle) break;
    taken += segment;
  }
  return taken === '' ? cutText(line, maxTitle) : taken;
}
