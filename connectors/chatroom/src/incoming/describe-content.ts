import type { APIEmbed, APIMessage } from 'discord-api-types/v10';
import type { ChatMessage } from './read-event.ts';
import { oneLine } from '@svc/connector-kit/one-line.ts';

/** So much is read of a preview or another thing beside the text, and of so many of them. */
const longest = 2000;
const most = 10;

/** What a message holds beside its text and files, as lines for the assistant. */
export function describeContent(message: Pick<ChatMessage, 'embeds' | 'sticker_items' | 'poll'>): string[] {
  const { embeds = [], sticker_items: stickers = [], poll } = message;
  return [
    ...embeds.map(embedText).filter((text) => text !== ''),
    ...stickers.map(({ name }) => `Sticker: ${name}`),
    ...(poll === undefined ? [] : [pollText(poll)]),
  ]
    .slice(0, most)
    .map((text) => `[${oneLine(text, longest)}]`);
}

function embedText({ author, title, description, fields = [], footer, url }: APIEmbed): string {
  const said = [author?.name, title, description, ...fields.map(({ name, value }) => `${name}: ${value}`), footer?.text].filter(
    (part) => typeof part === 'string' && part !== '',
  );
  return said.length === 0 ? '' : `Embed${url === undefined ? '' : ` of ${url}`}: ${said.join(' | ')}`;
}

function pollText({ question, answers }: NonNullable<APIMessage['poll']>): string {
  return `Poll: ${question.text ?? ''} Options: ${answers.map(({ poll_media: { text = '' } }) => text).join('; ')}`;
}
