import type { HeldAnnouncement } from '@svc/contract/send.ts';
import type { Database } from '@svc/store/database.ts';

const columns = 'id, instance_id, target, text, state, attempts, error, created_at, expires_at';
const insert = `INSERT INTO held_announcement (id, instance_id, target, text, posted_in, state, attempts, error, created_at, expires_at)
  VALUES (?, ?, ?, ?, ?, 'waiting', 0, NULL, ?, ?)`;
const selectOf = `SELECT ${columns} FROM held_announcement WHERE instance_id = ? ORDER BY seq`;
const selectNext = `SELECT ${columns} FROM held_announcement
  WHERE instance_id = ? AND state = 'waiting' AND posted_in <> ? ORDER BY seq LIMIT 1`;
const selectWaiting = `SELECT DISTINCT instance_id FROM held_announcement WHERE state = 'waiting'`;
const count = `SELECT count(*) AS held, coalesce(sum(instance_id = ?), 0) AS own FROM held_announcement`;
const note = 'UPDATE held_announcement SET state = ?, attempts = ?, error = ? WHERE id = ?';
const remove = 'DELETE FROM held_announcement WHERE id = ?';
const removeOf = 'DELETE FROM held_announcement WHERE instance_id = ?';
const expire = `UPDATE held_announcement SET state = 'failed', error = ? WHERE state = 'waiting' AND expires_at <= ?`;
const removeOld = 'DELETE FROM held_announcement WHERE expires_at <= ?';

export type NewAnnouncement = Omit<HeldAnnouncement, 'state' | 'attempts' | 'error'> & { posted_in: string };
export type AnnouncementStore = ReturnType<typeof createAnnouncementStore>;

/** The messages that wait for their instance to be back, and those of them that will never arrive. */
export function createAnnouncementStore(db: Database) {
  return {
    add: ({ id, instance_id, target, text, posted_in, created_at, expires_at }: NewAnnouncement) =>
      db.run(insert, id, instance_id, target, text, posted_in, created_at, expires_at),
    listOf: (instanceId: string) => db.all<HeldAnnouncement>(selectOf, instanceId),
    /** The oldest one that was not posted in this run. */
    next: (instanceId: string, run: string) => db.get<HeldAnnouncement>(selectNext, instanceId, run),
    waitingInstances: async () => (await db.all<{ instance_id: string }>(selectWaiting)).map((row) => row.instance_id),
    /** How many are held, and how many of them for this instance. */
    counts: async (instanceId: string) => (await db.get<{ held: number; own: number }>(count, instanceId)) ?? { held: 0, own: 0 },
    note: ({ id, state, attempts, error }: HeldAnnouncement) => db.run(note, state, attempts, error, id),
    remove: (id: string) => db.run(remove, id),
    removeOf: (instanceId: string) => db.run(removeOf, instanceId),
    /** Those that have expired by `now` are shown as failed until `shownMs` later. */
    async sweep(now: number, shownMs: number): Promise<void> {
      await db.run(expire, 'it expired before the instance was back', now);
      await db.run(removeOld, now - shownMs);
    },
  };
}
