import { readFileSync, rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { DamagedDatabase } from './damage.ts';
import type { Value } from './database.ts';
import { setAside } from './set-aside.ts';

/**
 * Versions up to 0.1 kept the last second of changes in `core.db-redo`, so a core of that version that was killed has left some
 * there. They are made once, and the file is gone. To be removed, with the name in `state-names.ts`, when nobody updates
 * from 0.1 any more.
 */

type Change = { sql: string; values: Value[] };
type Redo = { generation: number; changes: Change[] };

/** SQLite's codes for faults that are not the file's: busy, locked, no memory, read-only, I/O, full. */
const notTheFiles = [5, 6, 7, 8, 10, 13];

/**
 * Makes the changes that an earlier version left beside a database. A file that cannot be read to its end, or whose
 * changes do not fit, is applied not at all: it gets another name, and what is returned says so.
 * @throws what the database or the disk says; then the file stays for the next start.
 */
export function importRedo(db: DatabaseSync, file: string): string | null {
  const redoFile = `${file}-redo`;
  const text = readIfThere(redoFile);
  if (text === null) return null;
  try {
    const redo = parseRedo(text);
    if (redo !== null) apply(db, redo);
    rmSync(redoFile);
    return null;
  } catch (error) {
    const code = (error as { errcode?: number }).errcode;
    if (error instanceof DamagedDatabase || (code !== undefined && notTheFiles.includes(code & 0xff))) throw error;
    return `${redoFile} was not applied (${(error as Error).message}). It is kept as ${setAside(redoFile)}.`;
  }
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** The database counted its commits: changes on top of an earlier state than it has now are in it already. */
function apply(db: DatabaseSync, { generation, changes }: Redo): void {
  const current = Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
  if (generation < current) return;
  if (generation > current) throw new Error(`it follows on state ${generation} of the database, which has state ${current}`);
  db.exec('BEGIN IMMEDIATE');
  try {
    for (const { sql, values } of changes) db.prepare(sql).run(...values);
    db.exec(`PRAGMA user_version = ${generation + 1}; COMMIT`);
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** Null when it holds nothing. A last line without an end was cut off by a kill, and promised to nobody. */
function parseRedo(text: string): Redo | null {
  const [head, ...lines] = text.split('\n').slice(0, -1);
  if (head === undefined) return null;
  const { generation } = parse(head, 1) as { generation?: unknown };
  if (!Number.isSafeInteger(generation)) throw new Error('line 1 does not begin a log');
  const statements: string[] = [];
  return {
    generation: generation as number,
    changes: lines.map((line, at) => toChange(parse(line, at + 2), at + 2, statements)),
  };
}

function parse(line: string, number: number): object {
  try {
    const parsed: unknown = JSON.parse(line);
    if (typeof parsed === 'object' && parsed !== null) return parsed;
  } catch {
    // said below, without the text: it may hold what people wrote
  }
  throw new Error(`line ${number} is damaged`);
}

/** A statement's text is written once, and stands for itself by its number from then on. */
function toChange(entry: object, number: number, statements: string[]): Change {
  const [statement, ...values] = Array.isArray(entry) ? (entry as unknown[]) : [];
  if (typeof statement === 'string') statements.push(statement);
  const sql = typeof statement === 'number' ? statements[statement] : statement;
  if (typeof sql !== 'string') throw new Error(`line ${number} is damaged`);
  return { sql, values: values.map((value) => toValue(value, number)) };
}

function toValue(value: unknown, number: number): Value {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  const { big, bytes } = value as { big?: unknown; bytes?: unknown };
  if (typeof big === 'string' && /^-?\d+$/.test(big)) return BigInt(big);
  if (typeof bytes === 'string') return Buffer.from(bytes, 'base64');
  throw new Error(`line ${number} is damaged`);
}
