import type { Message } from 'grammy/types';
import { channelLine, type ChannelHead } from '@svc/connector-kit/channel-line.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';

/** Describes what a message contains besides text and files; null for nothing. */
export function describeContent(message: Message): string | null {
  for (const describe of contents) {
    const words = describe(message);
    if (words !== undefined) return channelLine(words[0], cutText(words[1], 4000));
  }
  return null;
}

type Described = readonly [head: ChannelHead, rest: string] | undefined;
type Describe = (message: Message) => Described;

/** A venue also has a location, so it comes first; likewise a game and its animation. */
const contents: readonly Describe[] = [
  ({ sticker }) => sticker && ['Sent sticker', join(':', sticker.emoji, sticker.set_name && `of the set ${sticker.set_name}`)],
  ({ venue }) => venue && ['Sent place', `: ${venue.title}, ${venue.address} (${point(venue.location)})`],
  ({ location }) =>
    location &&
    (location.live_period === undefined
      ? ['Sent location', `: ${point(location)}`]
      : ['Sent live location', `, as it was at first: ${point(location)}`]),
  ({ contact }) => contact && ['Sent contact', `: ${join(contact.first_name, contact.last_name)}, ${contact.phone_number}`],
  ({ poll }) => poll && ['Sent poll', `: ${poll.question} Options: ${poll.options.map(({ text }) => text).join('; ')}`],
  ({ dice }) => dice && ['Sent dice', `: ${dice.emoji} shows ${dice.value}`],
  ({ checklist }) => checklist && ['Sent list', ` "${checklist.title}": ${checklist.tasks.map(({ text }) => text).join('; ')}`],
  ({ game }) => game && ['Sent game', `: ${game.title}`],
  ({ story }) => story && ['Sent story', ', which bots cannot see'],
  ({ paid_media }) => paid_media && ['Sent media', ' that has to be paid for'],
];

const join = (...parts: (string | undefined)[]): string => parts.filter((part) => part !== undefined && part !== '').join(' ');
const point = ({ latitude, longitude }: { latitude: number; longitude: number }): string => `${latitude}, ${longitude}`;
