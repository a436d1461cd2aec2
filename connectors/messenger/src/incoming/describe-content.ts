import type { Message } from 'grammy/types';
import { oneLine } from '@svc/connector-kit/one-line.ts';

/** What a message holds beside text and files, as words for the assistant; null for none. */
export function describeContent(message: Message): string | null {
  for (const describe of contents) {
    const words = describe(message);
    if (words !== null) return `[${oneLine(words, 4000)}]`;
  }
  return null;
}

type Describe = (message: Message) => string | null;

/** A venue has a location, too, so it stands before it; so does a game its animation. */
const contents: readonly Describe[] = [
  ({ sticker }) =>
    sticker === undefined ? null : join('Sticker', sticker.emoji, sticker.set_name && `of the set ${sticker.set_name}`),
  ({ venue }) => (venue === undefined ? null : `Place: ${venue.title}, ${venue.address} (${point(venue.location)})`),
  ({ location }) => {
    if (location === undefined) return null;
    return `${location.live_period === undefined ? 'Location' : 'Live location, as it was at first'}: ${point(location)}`;
  },
  ({ contact }) =>
    contact === undefined ? null : `Contact: ${join(contact.first_name, contact.last_name)}, ${contact.phone_number}`,
  ({ poll }) =>
    poll === undefined ? null : `Poll: ${poll.question} Options: ${poll.options.map(({ text }) => text).join('; ')}`,
  ({ dice }) => (dice === undefined ? null : `${dice.emoji} shows ${dice.value}`),
  ({ checklist }) =>
    checklist === undefined ? null : `List "${checklist.title}": ${checklist.tasks.map(({ text }) => text).join('; ')}`,
  ({ game }) => (game === undefined ? null : `Game: ${game.title}`),
  ({ story }) => (story === undefined ? null : 'A story, which bots cannot see'),
  ({ paid_media }) => (paid_media === undefined ? null : 'Media that has to be paid for'),
];

const join = (...parts: (string | undefined)[]): string => parts.filter((part) => part !== undefined && part !== '').join(' ');
const point = ({ latitude, longitude }: { latitude: number; longitude: number }): string => `${latitude}, ${longitude}`;
