/** Renders a model's Markdown in a platform's dialect. Separate from the rest of the kit, because it loads a parser. */
export { renderMarkdown } from './render-markdown.ts';
export { discordMarkdown } from './discord-markdown.ts';
export { telegramHtml } from './telegram-html.ts';
export { plainText, type Dialect } from './dialect.ts';
/** Text and entities, for platforms that have no Markdown or split it badly. */
export { cleanText, isBlank } from './clean-text.ts';
export { endOf, sliceFormatted, tidyEntities, type Entity, type FormattedText } from './formatted-text.ts';
export { languageName, mark, readMarks, withSpoilers } from './marks.ts';
export { splitFormatted } from './split-formatted.ts';
