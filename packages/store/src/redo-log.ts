import { closeSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import type { Value } from './database.ts';

/** One change, as it can be made again. */
export type Change = { sql: string; values: Value[] };

/** What a file of changes holds: those made on top of the database's state number `generation`. */
export type Redo = { generation: number; changes: Change[] };

/**
 * A file of changes that a database has taken and not committed yet: one write makes any number of them safe from the end of
 * the process, where a commit would write every page they touch. Each file begins with the generation of the
 * database that its changes follow on, so none is ever made twice.
 */
export class RedoLog {
  readonly #file: string;
  readonly #fd: number;
  readonly #known = new Map<string, number>();
  #generation: number;
  #pending = '';
  #isEmpty = true;
  /** The file still holds changes that are committed. */
  #isOld = false;
  bytes = 0;

  constructor(file: string, generation: number) {
    this.#file = file;
    this.#fd = openSync(file, 'w', 0o600);
    this.#generation = generation;
  }

  /** A statement's text is written once for each generation. */
  add(sql: string, values: readonly Value[]): void {
    if (this.#isEmpty) this.#pending = `${JSON.stringify({ generation: this.#generation })}\n`;
    this.#isEmpty = false;
    const known = this.#known.get(sql);
    if (known === undefined) this.#known.set(sql, this.#known.size);
    this.#pending += `${JSON.stringify([known ?? sql, ...values.map(toJson)])}\n`;
  }

  /** Writes what was added. Throws without a trace in the file when it does not fit on the disk. */
  write(): void {
    if (this.#isOld) this.#clear();
    if (this.#pending === '') return;
    const buffer = Buffer.from(this.#pending, 'utf8');
    try {
      for (let done = 0; done < buffer.length;)
        done += writeSync(this.#fd, buffer, done, buffer.length - done, this.bytes + done);
    } catch (error) {
      ftruncateSync(this.#fd, this.bytes);
      throw error;
    }
    this.bytes += buffer.length;
    this.#pending = '';
  }

  /** The changes are committed: the next ones follow on `generation`. */
  restart(generation: number): void {
    this.#generation = generation;
    this.#known.clear();
    this.#pending = '';
    this.#isEmpty = true;
    this.#isOld = this.bytes > 0;
    this.bytes = 0;
    try {
      if (this.#isOld) this.#clear();
    } catch {
      // What it holds is committed. Nothing is written behind it, so the next write says what is wrong.
    }
  }

  #clear(): void {
    ftruncateSync(this.#fd, 0);
    this.#isOld = false;
  }

  close(): void {
    closeSync(this.#fd);
    rmSync(this.#file, { force: true });
  }
}

/** Reads what an earlier process left; a last line that was cut off by its end was never promised to anybody. */
export function readRedo(file: string): Redo | null {
  const lines = readLines(file);
  const head = lines[0] === undefined ? null : (parse(lines[0]) as { generation?: number } | null);
  if (typeof head?.generation !== 'number') return null;
  const statements: string[] = [];
  const changes: Change[] = [];
  for (const line of lines.slice(1)) {
    const entry = parse(line);
    if (!Array.isArray(entry)) break;
    const [statement, ...values] = entry as [string | number, ...unknown[]];
    if (typeof statement === 'string') statements.push(statement);
    const sql = typeof statement === 'string' ? statement : statements[statement];
    if (sql === undefined) break;
    changes.push({ sql, values: values.map(fromJson) });
  }
  return { generation: head.generation, changes };
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null; // zeros or half a line, as a machine that lost its power leaves them
  }
}

type Tagged = { big: string } | { bytes: string };

function toJson(value: Value): string | number | null | Tagged {
  if (typeof value === 'bigint') return { big: String(value) };
  return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') } : value;
}

function fromJson(value: unknown): Value {
  if (typeof value !== 'object' || value === null) return value as Value;
  return 'big' in value ? BigInt((value as { big: string }).big) : Buffer.from((value as { bytes: string }).bytes, 'base64');
}
