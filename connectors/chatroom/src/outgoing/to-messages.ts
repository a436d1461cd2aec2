import { splitMessage } from '@svc/connector-kit';
import {
  cleanText,
  isBlank,
  readMarks,
  renderMarkdown,
  splitFormatted,
  tidyEntities,
  type FormattedText,
} from '@svc/connector-kit/markdown';
import { discordDialect } from './discord-dialect.ts';
import { writeDiscord } from './write-discord.ts';

/** Discord counts code points, or UTF-16 units, which are as many or more. */
export const maxMessage = 2000;

/** Longer texts are cut before they are parsed: the parser takes so much at once. */
const mostParsed = 16_000;

/**
 * Markdown as Discord's messages, in their order, each within the limit and whole in itself. A text of which nothing would be seen, such as a
 * reference to a page alone, is shown as it is written.
 */
export function toMessages(markdown: string, limit = maxMessage): string[] {
  const messages = splitMessage(markdown, mostParsed).flatMap((part) =>
    split(readMarks(renderMarkdown(part, discordDialect)), limit),
  );
  if (messages.length > 0 || opensCode.test(markdown) || !hasWords.test(markdown)) return messages;
  return split(tidyEntities({ text: cleanText(markdown), entities: [] }), limit);
}

const split = (text: FormattedText, limit: number): string[] =>
  splitFormatted(text, { limit, lengthOf: (part) => writeDiscord(part).length })
    .filter((part) => !isBlank(part.text))
    .map((part) => writeDiscord(part));

const hasWords = /[\p{L}\p{N}]/u;
/** Code that has only just begun. */
const opensCode = /^\s*(?:```|~~~)/;
