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

/** Maximum UTF-16 units of a message, and of a caption. */
export const maxMessage = 4096;
export const maxCaption = 1024;
/** Telegram shows at most this many entities of a message and drops the rest. */
const maxEntities = 100;

/** Longer texts are cut before they are parsed, because the parser accepts at most this many units. */
const mostParsed = 16_000;

/**
 * Renders Markdown as Telegram messages, in order. Each fits, and none can be refused for its markup. A text that would render as nothing,
 * such as a lone reference definition, is shown as source.
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
/** A code block that has only just begun. */
const opensCode = /^\s*(?:```|~~~)/;

/** The reply writer handles messages as strings, so the entities are appended to the text after this separator. */
const behind = '\u0000';

export const packMessage = ({ text, entities }: FormattedText): string =>
  entities.length === 0 ? text : text + behind + JSON.stringify(entities);

/** Unpacks a packed message, or accepts a plain text. */
export function unpackMessage(packed: string): FormattedText {
  const at = packed.indexOf(behind);
  if (at < 0) return { text: packed, entities: [] };
  return { text: packed.slice(0, at), entities: JSON.parse(packed.slice(at + 1)) as Entity[] };
}
