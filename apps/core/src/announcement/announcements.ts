import { type Announcement, longestAnnouncement } from '@svc/contract/announcement.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import type { Database } from '@svc/store/database.ts';
import { createAnnouncementStore } from './announcement-store.ts';

export type Post = Pick<Announcement, 'target' | 'text' | 'priority' | 'from_session'> & {
  /** Seconds until it expires, fractions included; absent for never. */
  ttl?: number;
};

export type AnnouncementLimits = {
  /** Live announcements; past it the oldest go. */
  count: number;
  /** Characters of all of them together. */
  chars: number;
};

const defaultLimits: AnnouncementLimits = { count: 10_000, chars: 5_000_000 };

const charsOf = ({ text, target, from_session }: Announcement): number => text.length + target.length + from_session.length;

/**
 * The announcements that are live. They are held in memory as well as stored: this process alone writes them, and a
 * turn that has nothing new to read pays nothing for that. Ids rise, so the list is in their order.
 */
export type Announcements = {
  /** Stores an announcement; what is returned is what was kept of it. It is live from the moment this resolves. */
  post(post: Post): Promise<Announcement>;
  /** Takes one back: no later turn reads it. Null for one that is not live. */
  delete(id: number): Promise<Announcement | null>;
  /** All that are live, oldest first. */
  list(): readonly Announcement[];
  /** Id of the newest live one; 0 when there is none. */
  newestId(): number;
  /** Live ones above an id, oldest first. Costs nothing for those below it. */
  after(id: number): readonly Announcement[];
  /** Calls back after each one that was posted. */
  onPosted(listener: () => void): void;
};

export async function openAnnouncements(db: Database, clock: Clock, limits = defaultLimits): Promise<Announcements> {
  const store = createAnnouncementStore(db);
  let live: Announcement[] = [];
  let chars = 0;
  /** When the next one expires. */
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
      // Begun together, so they share a commit. What is kept is the text of the row: a slice would keep the whole string alive.
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
      // The second to delete it finds it gone; the oldest may have left meanwhile, too.
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
