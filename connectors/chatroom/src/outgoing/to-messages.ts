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

/** Discord counts code points; UTF-16 units are at least as many. */
export const maxMessage = 2000;

/** Longer texts are cut before they are parsed, because the parser accepts at most this many units. */
const mostParsed = 16_000;

/**
 * Renders Markdown as Discord messages, in order, each within the limit and with complete markup. A text that would render as nothing, such
 * as a lone reference definition, is shown as source.
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
/** A code block that has only just begun. */
const opensCode = /^\s*(?:```|~~~)/;
