import type { VaultAccess } from '@svc/contract/vault.ts';
import { createCarefulTime } from '@svc/service-kit/careful-time.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Database, Transaction } from '@svc/store/database.ts';
import { createRefusalLimit } from './refusal-limit.ts';

export type Accessed = Pick<VaultAccess, 'actor' | 'action' | 'target'>;

const insert = 'INSERT INTO access_log (at, actor, action, target, outcome, detail) VALUES (?, ?, ?, ?, ?, ?)';
const keptMs = 400 * 86_400_000;
/** Rows with a time after ?2 (now) were written while the clock was ahead. They are removed together with later rows that have a correct time. */
const pruneOld = `DELETE FROM access_log WHERE at < ?1 OR (at > ?2 AND id < (SELECT max(id) FROM access_log WHERE at < ?1))`;
const readPrunedAt = 'SELECT pruned_at FROM access_log_mark';
const keepPrunedAt =
  'INSERT INTO access_log_mark (id, pruned_at) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET pruned_at = excluded.pruned_at';
const pruneEveryMs = 60 * 60_000;
/** Entries about refused and failed accesses; beyond this number the oldest are deleted early. */
const maxRefusals = 100_000;
const pruneRefusals = `DELETE FROM access_log WHERE outcome <> 'ok' AND id <=
  (SELECT id FROM access_log WHERE outcome <> 'ok' ORDER BY id DESC LIMIT 1 OFFSET ?)`;

/**
 * Who requested what, and the outcome. An entry is committed in the transaction of its access, so no answer is sent without
 * a record: if the entry cannot be written, the access fails. Repeated refusals are only counted, so that requests cannot
 * fill the disk.
 */
export type AccessLog = {
  /** Runs `work` in a transaction with its entry. A refusal or failure is recorded too, and thrown again. */
  during<T>(accessed: Accessed, work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** The newest entries below an id, newest first. */
  list(limit: number, before: number): Promise<VaultAccess[]>;
  /** Removes entries that are too old or too many. Entries are kept for a little over a year. */
  prune(): Promise<void>;
  /** Records the counts of refusals that are still open. */
  close(): void;
};

export function createAccessLog(db: Database, clock: Clock, log: Pick<Log, 'error'>): AccessLog {
  const write = (tx: Database, { actor, action, target }: Accessed, outcome: VaultAccess['outcome'], detail: string | null) =>
    tx.run(insert, clock.now(), actor, action, target, outcome, detail);

  const refusals = createRefusalLimit(clock, ({ actor, count }) => {
    const summary = { actor, action: 'several', target: null };
    write(db, summary, 'denied', `${count} more within a minute`).catch((error: unknown) =>
      log.error({ err: error, actor, count }, 'a count of refused accesses could not be recorded'),
    );
  });
  const carefulTime = createCarefulTime(clock);
  let pruning: Promise<void> | null = null;
  const pruneNow = async (): Promise<void> => {
    const at = carefulTime((await db.get<{ pruned_at: number }>(readPrunedAt))?.pruned_at ?? null);
    await db.run(keepPrunedAt, at);
    await db.run(pruneOld, at - keptMs, clock.now());
    await db.run(pruneRefusals, maxRefusals);
  };
  const prune = (): Promise<void> => (pruning ??= pruneNow().finally(() => (pruning = null)));
  const stopPruning = clock.every(pruneEveryMs, () => {
    prune().catch((error: unknown) => log.error({ err: error }, 'the access log could not be pruned'));
  });

  return {
    async during(accessed, work) {
      try {
        return await db.transaction(async (tx) => {
          const result = await work(tx);
          await write(tx, accessed, 'ok', null);
          return result;
        });
      } catch (error) {
        if (refusals.takes(accessed.actor)) {
          await db.transaction((tx) => write(tx, accessed, outcomeOf(error), codeOf(error)));
        }
        throw error;
      }
    },

    list: (limit, before) => db.all<VaultAccess>('SELECT * FROM access_log WHERE id < ? ORDER BY id DESC LIMIT ?', before, limit),

    prune,
    close() {
      stopPruning();
      refusals.close();
    },
  };
}

const refusalCodes = new Set(['forbidden', 'unauthorized', 'busy', 'queue_full']);
const outcomeOf = (error: unknown) => (error instanceof ServiceError && refusalCodes.has(error.code) ? 'denied' : 'failed');
const codeOf = (error: unknown): string => (error instanceof ServiceError ? error.code : (error as Error).name);
