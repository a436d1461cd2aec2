import type { VaultAccess } from '@svc/contract/vault.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Database } from '@svc/store/database.ts';

export type Accessed = Pick<VaultAccess, 'actor' | 'action' | 'target'>;

const insert = 'INSERT INTO access_log (at, actor, action, target, outcome, detail) VALUES (?, ?, ?, ?, ?, ?)';
const keptMs = 400 * 86_400_000;

/**
 * Who asked for what, and what became of it. An entry is committed together with what it tells of, so nothing is answered
 * that is not on record: where the entry cannot be written, the access has not happened.
 */
export function createAccessLog(db: Database, clock: Clock) {
  const write = (tx: Database, { actor, action, target }: Accessed, outcome: VaultAccess['outcome'], detail: string | null) =>
    tx.run(insert, clock.now(), actor, action, target, outcome, detail);

  return {
    /** Runs `work` in a transaction with its entry. What is refused or fails is entered too, and thrown on. */
    async during<T>(accessed: Accessed, work: (tx: Database) => Promise<T>): Promise<T> {
      try {
        return await db.transaction(async (tx) => {
          const result = await work(tx);
          await write(tx, accessed, 'ok', null);
          return result;
        });
      } catch (error) {
        await db.transaction((tx) => write(tx, accessed, outcomeOf(error), codeOf(error)));
        throw error;
      }
    },

    /** The newest entries below an id, newest first. */
    list: (limit: number, before: number): Promise<VaultAccess[]> =>
      db.all<VaultAccess>('SELECT * FROM access_log WHERE id < ? ORDER BY id DESC LIMIT ?', before, limit),

    /** Entries are kept for a little over a year. */
    prune: (): Promise<number> => db.run('DELETE FROM access_log WHERE at < ?', clock.now() - keptMs),
  };
}

export type AccessLog = ReturnType<typeof createAccessLog>;

const refusals = new Set(['forbidden', 'unauthorized', 'busy', 'queue_full']);
const outcomeOf = (error: unknown) => (error instanceof ServiceError && refusals.has(error.code) ? 'denied' : 'failed');
const codeOf = (error: unknown): string => (error instanceof ServiceError ? error.code : (error as Error).name);
