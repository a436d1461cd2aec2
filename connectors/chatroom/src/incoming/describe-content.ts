import type { APIEmbed, APIMessage } from 'discord-api-types/v10';
import type { ChatMessage } from './read-event.ts';
import { channelLine, type ChannelHead } from '@svc/connector-kit/channel-line.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';

/** Limits of previews and other content besides the text: their length, and their number. */
const longest = 2000;
const most = 10;

/** Describes what a message contains besides its text and files, as lines for the assistant. */
export function describeContent(message: Pick<ChatMessage, 'embeds' | 'sticker_items' | 'poll'>): string[] {
  const { embeds = [], sticker_items: stickers = [], poll } = message;
  return [
    ...embeds.flatMap(embedLine),
    ...stickers.map(({ name }) => line('Sent sticker', `: ${name}`)),
    ...(poll === undefined ? [] : [pollLine(poll)]),
  ].slice(0, most);
}

const line = (head: ChannelHead, rest: string): string => channelLine(head, cutText(rest, longest));

function embedLine({ author, title, description, fields = [], footer, url }: APIEmbed): string[] {
  const said = [author?.name, title, description, ...fields.map(({ name, value }) => `${name}: ${value}`), footer?.text].filter(
    (part) => typeof part === 'string' && part !== '',
  );
  return said.length === 0 ? [] : [line('Sent embed', `${url === undefined ? '' : ` of ${url}`}: ${said.join(' | ')}`)];
}

function pollLine({ question, answers }: NonNullable<APIMessage['poll']>): string {
  const options = answers.map(({ poll_media: { text = '' } }) => text).join('; ');
  return line('Sent poll', `: ${question.text ?? ''} Options: ${options}`);
}
