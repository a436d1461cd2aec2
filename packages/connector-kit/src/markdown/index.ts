/** What a model writes, in a platform's dialect. Apart from the rest of the kit: it loads a parser. */
export { renderMarkdown } from './render-markdown.ts';
export { discordMarkdown } from './discord-markdown.ts';
export { telegramHtml } from './telegram-html.ts';
export { plainText, type Dialect } from './dialect.ts';
