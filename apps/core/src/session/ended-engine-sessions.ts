import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { inTime } from '@svc/service-kit/within.ts';
import type { Database } from '@svc/store/database.ts';

/** A session as its engine knows it. */
export type EngineSession = { engine_id: string; engine_session_id: string };

const insert = `INSERT INTO ended_engine_session (engine_id, engine_session_id, ended_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`;
const selectPage = `SELECT engine_id, engine_session_id FROM ended_engine_session WHERE ended_at <= ?
  ORDER BY failures, ended_at LIMIT ? OFFSET ?`;
const countSince = 'SELECT COUNT(*) AS left FROM ended_engine_session WHERE ended_at >= ?';
const countFailure = 'UPDATE ended_engine_session SET failures = failures + 1 WHERE engine_id = ? AND engine_session_id = ?';
const remove = 'DELETE FROM ended_engine_session WHERE engine_id = ? AND engine_session_id = ?';
const pageSize = 100;
/** An engine may have to start its program first. */
const limitMs = 60_000;
/** After this many failures of an engine, its other sessions are left for the next run. */
const failuresInRun = 3;

/**
 * Records that no conversation continues a session, in the transaction that takes it from its conversation: so the engine's
 * own record of it is removed, whatever is killed meanwhile.
 */
export async function noteEnded(tx: Pick<Database, 'run'>, sessions: readonly EngineSession[], now: number): Promise<void> {
  for (const { engine_id, engine_session_id } of sessions) await tx.run(insert, engine_id, engine_session_id, now);
}

type Deps = {
  db: Database;
  /** Removes an engine's record of a session. Rejects with a reason that a person can act on. */
  forget(engineId: string, engineSessionId: string): Promise<void>;
  clock: Clock;
  log: Pick<Log, 'warn' | 'error'>;
};

/** Removes the engines' own records of sessions that no conversation continues. */
export interface EndedEngineSessions {
  /** Starts a run soon, without waiting for it. */
  removeSoon(): void;
  /** Resolves when each was tried. The rest is retried every hour, and after each start. */
  remove(): Promise<void>;
  /** How many sessions that ended since `since` (epoch ms) are left. */
  left(since: number): Promise<number>;
  /** Why some could not be removed in the last run, a line for each engine. */
  notices(): string[];
  /** Resolves when no run is active. */
  close(): Promise<void>;
}

export function createEndedEngineSessions(deps: Deps): EndedEngineSessions {
  const { clock, log } = deps;
  let faults: ReadonlyMap<string, string> = new Map();
  let running: Promise<void> | null = null;
  /** A run may miss sessions that end during it, so another one follows. */
  let next: Promise<void> | null = null;
  let isClosed = false;

  const run = async (): Promise<void> => {
    const found = new Map<string, string>();
    try {
      await removeAll(deps, found, () => isClosed);
    } finally {
      faults = found;
      running = next;
      next = null;
    }
  };
  const remove = (): Promise<void> => {
    if (running === null) return (running = run());
    next ??= running.then(run, run);
    return next;
  };
  const removeSoon = (): void => {
    if (isClosed) return;
    remove().catch((error: unknown) =>
      log.error({ err: error }, 'the records that engines keep of ended sessions could not be removed'),
    );
  };
  const stop = clock.every(hourMs, removeSoon);
  const cancel = clock.after(firstMs, removeSoon);

  return {
    removeSoon,
    remove,
    left: async (since) => (await deps.db.get<{ left: number }>(countSince, since))?.left ?? 0,
    notices: () => [...faults.values()],
    async close() {
      isClosed = true;
      stop();
      cancel();
      await Promise.allSettled([running, next]);
    },
  };
}

const hourMs = 60 * 60_000;
/** What an earlier process left can wait until the start is over. */
const firstMs = 60_000;

async function removeAll({ db, forget, clock, log }: Deps, faults: Map<string, string>, isClosed: () => boolean): Promise<void> {
  const failures = new Map<string, number>();
  const before = clock.now();
  let kept = 0;
  let page: EngineSession[];
  do {
    page = await db.all<EngineSession>(selectPage, before, pageSize, kept);
    for (const { engine_id, engine_session_id } of page) {
      if (isClosed()) return;
      if (!(await tryOne(engine_id, engine_session_id))) kept++;
    }
  } while (page.length === pageSize);

  async function tryOne(engineId: string, sessionId: string): Promise<boolean> {
    if ((failures.get(engineId) ?? 0) >= failuresInRun) return false;
    try {
      await inTime(forget(engineId, sessionId), limitMs, () => tooLong(engineId), clock);
    } catch (error) {
      failures.set(engineId, (failures.get(engineId) ?? 0) + 1);
      faults.set(engineId, notice(engineId, error));
      log.warn({ err: error, engine: engineId }, 'the record that an engine keeps of an ended session could not be removed');
      await db.run(countFailure, engineId, sessionId);
      return false;
    }
    await db.run(remove, engineId, sessionId);
    return true;
  }
}

const tooLong = (id: string): never => {
  throw new Error(`${id} did not answer within ${limitMs / 1000} s`);
};

const notice = (id: string, error: unknown): string =>
  `The records that ${id} keeps of forgotten conversations could not be removed yet. The service tries again every hour: ${errorText(error)}`;
