import type { ControlAction } from '@svc/contract/control.ts';
import type { SqliteDatabase } from '@svc/store/open-sqlite.ts';

const insert = `INSERT INTO control_audit (id, at, actor, action, target, details, outcome) VALUES (?, ?, ?, ?, ?, ?, 'pending')`;
const update = `UPDATE control_audit SET outcome = ?, error = ?, finished_at = ? WHERE id = ? AND outcome = 'pending'`;
const select = 'SELECT * FROM control_audit WHERE at < ? ORDER BY seq DESC LIMIT ?';

type Row = Omit<ControlAction, 'details'> & { details: string; seq: number };
type Db = SqliteDatabase;

/** Notes an action that is about to begin; it is on the disk when this resolves. */
export const noteBegin = (db: Db, { id, at, actor, action, target, details }: ControlAction): Promise<void> =>
  durably(db, () => void db.raw.prepare(insert).run(id, at, actor, action, target, JSON.stringify(details)));

export const noteEnd = (db: Db, { id, outcome, error, finished_at }: ControlAction): Promise<void> =>
  durably(db, () => void db.raw.prepare(update).run(outcome, error, finished_at, id));

/** Newest first. */
export async function listAudit(db: Pick<Db, 'all'>, before: number, limit: number): Promise<ControlAction[]> {
  const rows = await db.all<Row>(select, before, limit);
  return rows.map(({ seq: _seq, details, ...row }) => ({ ...row, details: JSON.parse(details) as Record<string, unknown> }));
}

/** Everything else may be lost with the power of the machine, in its last moment; this may not. */
async function durably(db: Db, write: () => void): Promise<void> {
  while (db.raw.isTransaction) await db.flush();
  db.raw.exec('PRAGMA synchronous=FULL');
  try {
    write();
  } finally {
    db.raw.exec('PRAGMA synchronous=NORMAL');
  }
}
