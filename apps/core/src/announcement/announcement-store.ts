import type { Announcement } from '@svc/contract/announcement.ts';
import type { Database } from '@svc/store/database.ts';
import { cut } from '@svc/store/read-page.ts';

export type NewAnnouncement = Omit<Announcement, 'id'>;

const columns = 'id, target, text, priority, from_session, created_at, expires_at';
const insert = `INSERT INTO announcement (target, text, priority, from_session, created_at, expires_at)
  VALUES (?, ?, ?, ?, ?, ?) RETURNING ${columns}`;
// A target that is too long matches no session.
const selectLive = `SELECT id, target, ${cut('text', 16_384)}, priority, ${cut('from_session', 4096)}, created_at, expires_at
  FROM announcement WHERE (expires_at IS NULL OR expires_at > ?) AND octet_length(target) <= 4096 ORDER BY id`;
const prune = 'DELETE FROM announcement WHERE id < ? OR expires_at <= ?';
const remove = 'DELETE FROM announcement WHERE id = ?';

export function createAnnouncementStore(db: Database) {
  return {
    async create(draft: NewAnnouncement): Promise<Announcement> {
      const { target, text, priority, from_session, created_at, expires_at } = draft;
      const row = await db.get<Announcement>(insert, target, text, priority, from_session, created_at, expires_at);
      if (row === undefined) throw new Error('the announcement could not be stored');
      return row;
    },
    /** Announcements that have not expired, oldest first. */
    live: (now: number) => db.all<Announcement>(selectLive, now),
    /** Removes expired announcements, and those older than `oldestId`. */
    prune: (now: number, oldestId: number) => db.run(prune, oldestId, now),
    delete: (id: number) => db.run(remove, id),
  };
}
