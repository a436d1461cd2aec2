import type { ControlAction } from '@svc/contract/control.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Hub } from '@svc/service-kit/hub.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText, ServiceError, unavailable } from '@svc/service-kit/service-error.ts';
import type { SqliteDatabase } from '@svc/store/open-sqlite.ts';
import type { FeedItem } from '../feed/feed-item.ts';

type ActionRequest = Pick<ControlAction, 'actor' | 'action' | 'target' | 'details'>;
type Deps = { db: Db; hub: Hub<FeedItem>; clock: Pick<Clock, 'now'>; ids: Ids; log: Pick<Log, 'error'> };

/**
 * Runs one control action: records it in the audit log, runs it, then records the outcome. An action that cannot be
 * recorded is not run. Throws what the action throws.
 */
export async function runAudited<T>(
  { db, hub, clock, ids, log }: Deps,
  request: ActionRequest,
  act: () => Promise<T>,
): Promise<T & { ok: true; audit_id: string; action: ControlAction['action']; target: string }> {
  const row: ControlAction = {
    ...request,
    id: ids.next('act'),
    at: clock.now(),
    outcome: 'pending',
    error: null,
    finished_at: null,
  };
  await noteBegin(db, row).catch((error: unknown) => {
    throw unavailable('The audit log cannot be written, so nothing was done.', error);
  });
  const finish = async (outcome: ControlAction['outcome'], error: string | null) => {
    const ended = { ...row, outcome, error, finished_at: clock.now() };
    hub.publish({ name: 'control', data: ended });
    await noteEnd(db, ended).catch((fault: unknown) =>
      log.error({ err: fault, audit: row.id }, 'the outcome of a control action could not be written to the audit log'),
    );
  };
  try {
    const result = await act();
    await finish('done', null);
    return { ...result, ok: true, audit_id: row.id, action: row.action, target: row.target };
  } catch (error) {
    const isRefusal = error instanceof ServiceError && error.status < 500;
    await finish(isRefusal ? 'refused' : 'failed', errorText(error).slice(0, 1000));
    throw error;
  }
}

const insert = `INSERT INTO control_audit (id, at, actor, action, target, details, outcome) VALUES (?, ?, ?, ?, ?, ?, 'pending')`;
const update = `UPDATE control_audit SET outcome = ?, error = ?, finished_at = ? WHERE id = ? AND outcome = 'pending'`;
const select = 'SELECT * FROM control_audit WHERE at < ? ORDER BY seq DESC LIMIT ?';

type Row = Omit<ControlAction, 'details'> & { details: string; seq: number };
type Db = Pick<SqliteDatabase, 'all' | 'runDurably'>;

/** Records an action before it begins. Unlike everything else in this database, the record must survive a power failure. */
const noteBegin = (db: Db, { id, at, actor, action, target, details }: ControlAction): Promise<number> =>
  db.runDurably(insert, id, at, actor, action, target, JSON.stringify(details));

const noteEnd = (db: Db, { id, outcome, error, finished_at }: ControlAction): Promise<number> =>
  db.runDurably(update, outcome, error, finished_at, id);

/** Newest first. */
export async function listAudit(db: Pick<Db, 'all'>, before: number, limit: number): Promise<ControlAction[]> {
  const rows = await db.all<Row>(select, before, limit);
  return rows.map(({ seq: _seq, details, ...row }) => ({ ...row, details: JSON.parse(details) as Record<string, unknown> }));
}
