import type { History } from '@svc/contract/session.ts';
import type { Conversation } from '../state/conversation.ts';
import { coalesceReads } from './coalesce-reads.ts';

type Deps = {
  conversation: Pick<Conversation, 'merge'>;
  /** A page of what was said before a place; null for the newest. */
  read(before: number | null): Promise<History>;
};

/** A place behind which something may be missing. `round`: what was known by earlier rounds lies behind that. */
type Place = { before: number; round: number };

/** So many pages are read at once to close a hole; the rest as one reads upwards. */
const maxAtOnce = 10;

/**
 * The history of a conversation, page by page, merged as it is read. A newest page that shares no turn with those before it leaves a hole, which is
 * read before anything older.
 */
export function createHistoryPages({ conversation, read }: Deps) {
  /** The turns that pages had, each with the round in which it was first read. */
  const rounds = new Map<string, number>();
  /** The nearest is the last. */
  const places: Place[] = [];
  let round = 0;

  /** Whether it had a turn that was not known. */
  const take = ({ messages }: History): boolean => {
    const before = rounds.size;
    for (const { turn_id } of messages) if (!rounds.has(turn_id)) rounds.set(turn_id, round);
    conversation.merge(messages);
    return rounds.size > before;
  };
  const reaches = ({ messages }: History, before: number): boolean =>
    messages.some(({ turn_id }) => (rounds.get(turn_id) ?? round) < before);

  /** Gives whether there is something new; null when there is no more, or it cannot be read now. */
  async function readBehind(): Promise<boolean | null> {
    const place = places.at(-1);
    const page = place === undefined ? null : await read(place.before).catch(() => null); // asked for again at the next scroll
    if (place === undefined || page === null) return null;
    const index = places.indexOf(place); // -1: another read has closed it meanwhile
    if (page.next === null) places.splice(0, index + 1);
    else if (!reaches(page, place.round)) place.before = page.next;
    else if (index >= 0) places.splice(index, 1);
    return take(page);
  }

  /** @throws what `read` throws */
  async function readNewest(): Promise<void> {
    const page = await read(null);
    const isFirst = rounds.size === 0;
    const isHole = !isFirst && !page.messages.some(({ turn_id }) => rounds.has(turn_id));
    if (isHole) round += 1;
    const mine = round;
    if (page.next !== null && (isFirst || isHole)) places.push({ before: page.next, round });
    take(page);
    if (!isHole) return;
    for (let pages = 0; pages < maxAtOnce && places.at(-1)?.round === mine; pages += 1) if ((await readBehind()) === null) return;
  }

  return {
    /** At the start, and whenever something was missed. */
    readNewest: coalesceReads(readNewest),
    /** Resolves when there is something older, or nothing more. */
    async loadOlder(): Promise<void> {
      while ((await readBehind()) === false);
    },
  };
}
