/** What a model writes, in a platform's dialect. Apart from the rest of the kit: it loads a parser. */
export { renderMarkdown } from './render-markdown.ts';
export { discordMarkdown } from './discord-markdown.ts';
export { telegramHtml } from './telegram-html.ts';
export { plainText, type Dialect } from './dialect.ts';
/** For platforms that have no Markdown or cut it badly: text and entities. */
export { cleanText, isBlank } from './clean-text.ts';
export { endOf, sliceFormatted, tidyEntities, type Entity, type FormattedText } from './formatted-text.ts';
export { languageName, mark, readMarks, withSpoilers } from './marks.ts';
export { splitFormatted } from './split-formatted.ts';
