import { compositeKey } from '@svc/service-kit/composite-key.ts';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Database } from '@svc/store/database.ts';
import { touchesByPath, touchesByTime, type TouchPlace, type TouchRow } from './touch-store.ts';

/** Bounds of one answer: rows that are read by path; rows that are looked at by time, in slices, and kept of them. */
const maxByPath = 1000;
const maxByTime = 50_000;
const sliceRows = 5000;
const maxFound = 5000;

type Db = Pick<Database, 'all' | 'get'>;
type Touches = { rows: TouchRow[]; isAll: boolean };

/**
 * Touches of a path, and of what lies below it, since a time (epoch ms), in no order. A folder with few of them is read as
 * it is; of one with many the newest are looked for. Should they be too many, older ones are left out.
 */
export async function touchesUnder(db: Db, path: string, since: number): Promise<Touches> {
  const some = await touchesByPath(db, path, maxByPath);
  const inTime = some.filter(({ last_at }) => last_at >= since);
  if (some.length < maxByPath) return { rows: inTime, isAll: true };
  const newest = await newestUnder(db, path, since);
  return newest.isAll ? newest : { rows: merged(newest.rows, inTime), isAll: false };
}

async function newestUnder(db: Db, path: string, since: number): Promise<Touches> {
  const found: TouchRow[] = [];
  let from: TouchPlace | null = null;
  for (let looked = 0; looked < maxByTime && found.length < maxFound; looked += sliceRows) {
    const { rows, next } = await touchesByTime(db, path, since, from, sliceRows);
    found.push(...rows);
    if (next === null) return { rows: found, isAll: true };
    from = next;
    await nextTick();
  }
  return { rows: found, isAll: false };
}

/** Without those of the second list that are in the first. */
function merged(rows: readonly TouchRow[], more: readonly TouchRow[]): TouchRow[] {
  const nameOf = ({ session, path }: TouchRow) => compositeKey(session, path);
  const known = new Set(rows.map(nameOf));
  return [...rows, ...more.filter((row) => !known.has(nameOf(row)))];
}
