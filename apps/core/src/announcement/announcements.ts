import { type Announcement, longestAnnouncement } from '@svc/contract/announcement.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import type { Database } from '@svc/store/database.ts';
import { createAnnouncementStore } from './announcement-store.ts';

export type Post = Pick<Announcement, 'target' | 'text' | 'priority' | 'from_session'> & {
  /** Seconds until it expires, fractions allowed; absent: it never expires. */
  ttl?: number;
};

export type AnnouncementLimits = {
  /** The number of live announcements; above it the oldest are removed. */
  count: number;
  /** Their total length in characters. */
  chars: number;
};

const defaultLimits: AnnouncementLimits = { count: 10_000, chars: 5_000_000 };

const charsOf = ({ text, target, from_session }: Announcement): number => text.length + target.length + from_session.length;

/**
 * The live announcements, stored and cached in memory: only this process writes them, and a turn without news needs no query. The list is
 * in the order of the ids, which rise.
 */
export type Announcements = {
  /** Stores an announcement and returns its stored form. It is live once this resolves. */
  post(post: Post): Promise<Announcement>;
  /** Withdraws an announcement: no later turn reads it. Null for one that is not live. */
  delete(id: number): Promise<Announcement | null>;
  /** All live announcements, oldest first. */
  list(): readonly Announcement[];
  /** The id of the newest live announcement; 0 when there is none. */
  newestId(): number;
  /** The live announcements after an id, oldest first. Older ones cost nothing. */
  after(id: number): readonly Announcement[];
  /** Calls `listener` after each post. */
  onPosted(listener: () => void): void;
};

export async function openAnnouncements(db: Database, clock: Clock, limits = defaultLimits): Promise<Announcements> {
  const store = createAnnouncementStore(db);
  let live: Announcement[] = [];
  let chars = 0;
  /** When the next announcement expires. */
  let expiry = Number.POSITIVE_INFINITY;
  const listeners: (() => void)[] = [];

  const add = (announcement: Announcement) => {
    live.push(announcement);
    chars += charsOf(announcement);
    expiry = Math.min(expiry, announcement.expires_at ?? Number.POSITIVE_INFINITY);
    while (live.length > limits.count || chars > limits.chars) {
      const oldest = live.shift();
      chars -= oldest === undefined ? chars : charsOf(oldest);
    }
  };

  const current = (): readonly Announcement[] => {
    const now = clock.now();
    if (now < expiry) return live;
    const rest = live.filter(({ expires_at }) => expires_at === null || expires_at > now);
    live = [];
    chars = 0;
    expiry = Number.POSITIVE_INFINITY;
    for (const announcement of rest) add(announcement);
    return live;
  };

  for (const announcement of await store.live(clock.now())) add(announcement);

  return {
    async post({ ttl, text, ...draft }: Post): Promise<Announcement> {
      const now = clock.now();
      const expires_at = ttl === undefined ? null : now + Math.max(1, Math.round(ttl * 1000));
      // Started together, so that they share a commit. The text of the stored row is kept, because a slice would keep the whole original
      // string in memory.
      const [stored] = await Promise.all([
        store.create({ ...draft, text: cutText(text, longestAnnouncement), created_at: now, expires_at }),
        store.prune(now, current()[0]?.id ?? 0),
      ]);
      add(stored);
      for (const listener of listeners) listener();
      return stored;
    },

    async delete(id: number): Promise<Announcement | null> {
      const found = current().find((announcement) => announcement.id === id);
      if (found === undefined) return null;
      await store.delete(id);
      // It may be gone meanwhile: deleted by another call, or removed as the oldest.
      const at = live.indexOf(found);
      if (at === -1) return null;
      live = live.toSpliced(at, 1);
      chars -= charsOf(found);
      return found;
    },

    list: (): readonly Announcement[] => [...current()],

    newestId: (): number => current().at(-1)?.id ?? 0,

    after(id: number): readonly Announcement[] {
      const all = current();
      return all.slice(all.findLastIndex((announcement) => announcement.id <= id) + 1);
    },

    onPosted: (listener) => void listeners.push(listener),
  };
}
