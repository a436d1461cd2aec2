import type { Clock } from '@svc/service-kit/clock.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { Database } from '@svc/store/database.ts';

/** A message under its sender's key. `answer` is null until the outcome is final. */
export type SentMessage = SameMessage & { id: string; instance_id: string; answer: string | null };

/** What distinguishes a repeat from another message under the same key. A `digest` of null matches any content. */
export type SameMessage = { place: string; digest: string | null };

const keptMs = 24 * 60 * 60_000;
/** More than this within a day would be a sender's fault; the oldest are deleted. */
const maxKept = 100_000;

const read = 'SELECT id, place, digest, instance_id, answer FROM sent_message WHERE idempotency_key = ? AND created_at >= ?';
const insert =
  'INSERT INTO sent_message (idempotency_key, id, place, digest, instance_id, answer, created_at) VALUES (?, ?, ?, ?, ?, NULL, ?)';
const settle = 'UPDATE sent_message SET answer = ? WHERE id = ?';
const removeOld = 'DELETE FROM sent_message WHERE created_at < ?';
const removeExcess = 'DELETE FROM sent_message WHERE seq <= (SELECT max(seq) FROM sent_message) - ?';
const removeOf = 'DELETE FROM sent_message WHERE instance_id = ?';

/** The messages that were sent under a key in the last 24 h. */
export type SentStore = {
  find(key: string): Promise<SentMessage | null>;
  /** Stored when it resolves: from then on every attempt has the same id. */
  begin(key: string, same: SameMessage, instanceId: string): Promise<SentMessage>;
  /** Stores the final outcome. */
  settle(id: string, answer: string): Promise<void>;
  removeOf(instanceId: string): Promise<void>;
};

export function createSentStore(db: Database, clock: Clock, ids: Ids): SentStore {
  return {
    async find(key) {
      return (await db.get<SentMessage>(read, key, clock.now() - keptMs)) ?? null;
    },
    async begin(key, { place, digest }, instanceId) {
      const now = clock.now();
      await db.run(removeOld, now - keptMs);
      await db.run(removeExcess, maxKept);
      const id = ids.next('snd');
      await db.run(insert, key, id, place, digest, instanceId, now);
      return { id, place, digest, instance_id: instanceId, answer: null };
    },
    async settle(id, answer) {
      await db.run(settle, answer, id);
    },
    async removeOf(instanceId) {
      await db.run(removeOf, instanceId);
    },
  };
}
