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
const take = 'DELETE FROM held_announcement WHERE id = ? AND instance_id = ?';
const removeOf = 'DELETE FROM held_announcement WHERE instance_id = ?';
const expire = `UPDATE held_announcement SET state = 'failed', error = ? WHERE state = 'waiting' AND expires_at <= ?`;
const removeOld = 'DELETE FROM held_announcement WHERE expires_at <= ?';

export type NewAnnouncement = Omit<HeldAnnouncement, 'state' | 'attempts' | 'error'> & { posted_in: string };

/** The messages that wait for their instance to return, and those that failed. */
export type AnnouncementStore = {
  add(announcement: NewAnnouncement): Promise<void>;
  listOf(instanceId: string): Promise<HeldAnnouncement[]>;
  /** The oldest one that was not posted in this run. */
  next(instanceId: string, run: string): Promise<HeldAnnouncement | undefined>;
  waitingInstances(): Promise<string[]>;
  /** How many are held, and how many of them for this instance. */
  counts(instanceId: string): Promise<{ held: number; own: number }>;
  /** Stores the state, attempts and error of one that is held. */
  note(announcement: HeldAnnouncement): Promise<void>;
  remove(id: string): Promise<void>;
  /** False when this instance has none of this id. */
  take(instanceId: string, id: string): Promise<boolean>;
  removeOf(instanceId: string): Promise<void>;
  /** Those that have expired by `now` are shown as failed until `shownMs` later. */
  sweep(now: number, shownMs: number): Promise<void>;
};

export function createAnnouncementStore(db: Database): AnnouncementStore {
  const run = async (...statement: Parameters<Database['run']>): Promise<void> => void (await db.run(...statement));
  return {
    add: ({ id, instance_id, target, text, posted_in, created_at, expires_at }) =>
      run(insert, id, instance_id, target, text, posted_in, created_at, expires_at),
    listOf: (instanceId) => db.all<HeldAnnouncement>(selectOf, instanceId),
    next: (instanceId, inRun) => db.get<HeldAnnouncement>(selectNext, instanceId, inRun),
    waitingInstances: async () => (await db.all<{ instance_id: string }>(selectWaiting)).map((row) => row.instance_id),
    counts: async (instanceId) => (await db.get<{ held: number; own: number }>(count, instanceId)) ?? { held: 0, own: 0 },
    note: ({ id, state, attempts, error }) => run(note, state, attempts, error, id),
    remove: (id) => run(remove, id),
    take: async (instanceId, id) => (await db.run(take, id, instanceId)) > 0,
    removeOf: (instanceId) => run(removeOf, instanceId),
    async sweep(now, shownMs) {
      await db.run(expire, 'it expired before the instance was back', now);
      await db.run(removeOld, now - shownMs);
    },
  };
}
