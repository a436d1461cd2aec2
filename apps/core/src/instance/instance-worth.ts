import type { InstanceWorth, InstanceWorthFile } from '@svc/contract/instance-worth.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { writeFileAtomic } from '@svc/service-kit/files.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { Database } from '@svc/store/database.ts';

const everyMs = 10 * 60_000;
/** Those that were used last say enough, however many there are. */
const recent = 2000;
const used = `SELECT instance_id AS id, MAX(last_active_at) AS last_used_at, COUNT(DISTINCT principal_id) AS persons
  FROM (SELECT instance_id, last_active_at, principal_id FROM session ORDER BY last_active_at DESC LIMIT ${recent}) AS recent
  WHERE instance_id IS NOT NULL GROUP BY instance_id`;
const openTurns = `SELECT session.instance_id AS id, COUNT(*) AS open FROM turn JOIN session ON session.conversation_key = turn.conversation_key
  WHERE turn.seq > (SELECT seq FROM turn_mark WHERE id = 1) AND turn.open = 1 AND session.instance_id IS NOT NULL GROUP BY session.instance_id`;
const undelivered = `SELECT instance_id AS id, COUNT(*) AS open FROM delivery
  WHERE state = 'pending' AND instance_id IS NOT NULL GROUP BY instance_id`;

type Deps = { db: Pick<Database, 'all'>; file: string; clock: Pick<Clock, 'every'>; log: Pick<Log, 'warn'> };

/** Notes for the manager how much each instance is used, so that what people wait for comes back first at the next start. */
export type WorthNotes = {
  /** For the last time; never rejects. */
  end(): Promise<void>;
};

export function noteWorth({ db, file, clock, log }: Deps): WorthNotes {
  const write = async (): Promise<void> => {
    try {
      writeFileAtomic(file, JSON.stringify(await readWorth(db)));
    } catch (error) {
      log.warn(
        { fault: errorText(error) },
        'it could not be noted which channels are used; they come back in the order they had',
      );
    }
  };
  const stop = clock.every(everyMs, () => void write());
  return {
    async end() {
      stop();
      await write();
    },
  };
}

export async function readWorth(db: Pick<Database, 'all'>): Promise<InstanceWorthFile> {
  const found = new Map<string, InstanceWorth>();
  for (const { id, last_used_at, persons } of await db.all<{ id: string } & Omit<InstanceWorth, 'open'>>(used))
    found.set(id, { open: 0, last_used_at, persons });
  for (const { id, open } of [...(await openOnes(db, openTurns)), ...(await openOnes(db, undelivered))]) {
    const worth = found.get(id) ?? { open: 0, last_used_at: 0, persons: 0 };
    found.set(id, { ...worth, open: worth.open + open });
  }
  return Object.fromEntries(found);
}

const openOnes = (db: Pick<Database, 'all'>, sql: string) => db.all<{ id: string; open: number }>(sql);
