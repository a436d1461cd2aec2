import { splitMessage } from '@svc/connector-kit';
import {
  cleanText,
  isBlank,
  readMarks,
  renderMarkdown,
  splitFormatted,
  tidyEntities,
  type Entity,
  type FormattedText,
} from '@svc/connector-kit/markdown';
import { markedText } from './telegram-dialect.ts';

/** UTF-16 units of a message, and of the text below a file. */
export const maxMessage = 4096;
export const maxCaption = 1024;
/** Telegram shows so many entities of a message and leaves out the rest. */
const maxEntities = 100;

/** Longer texts are cut before they are parsed: the parser takes so much at once. */
const mostParsed = 16_000;

/**
 * Markdown as Telegram's messages, in their order. Each fits, and none can be refused for how it is written. A text of which nothing would be seen, such as a
 * reference to a page alone, is shown as it is written.
 */
export function toMessages(markdown: string, limit = maxMessage): FormattedText[] {
  const messages = splitMessage(markdown, mostParsed).flatMap((part) =>
    split(readMarks(renderMarkdown(part, markedText)), limit),
  );
  if (messages.length > 0 || opensCode.test(markdown) || !hasWords.test(markdown)) return messages;
  return split(tidyEntities({ text: cleanText(markdown), entities: [] }), limit);
}

const split = (text: FormattedText, limit: number): FormattedText[] =>
  splitFormatted(text, { limit, maxEntities }).filter(({ text: words }) => !isBlank(words));

const hasWords = /[\p{L}\p{N}]/u;
/** Code that has only just begun. */
const opensCode = /^\s*(?:```|~~~)/;

/** The reply writer knows messages as texts: the entities stand behind the words. */
const behind = '\u0000';

export const packMessage = ({ text, entities }: FormattedText): string =>
  entities.length === 0 ? text : text + behind + JSON.stringify(entities);

/** Of a packed message, or of words alone. */
export function unpackMessage(packed: string): FormattedText {
  const at = packed.indexOf(behind);
  if (at < 0) return { text: packed, entities: [] };
  return { text: packed.slice(0, at), entities: JSON.parse(packed.slice(at + 1)) as Entity[] };
}
