import { DatabaseSync, type DatabaseSyncOptions, type StatementSync } from 'node:sqlite';

/** A database file is damaged. The message names the file and what to do. */
export class DamagedDatabase extends Error {
  override readonly name = 'DamagedDatabase';
}

/** SQLite's codes for "malformed" and "not a database". */
const damageCodes = [11, 26];
/** The code for a damaged virtual table, an extended form of the first one. */
const indexDamageCode = 267;

/** Whether an error of SQLite means that a file is damaged. */
export const isDamage = (error: unknown): boolean => damageCodes.includes(((error as { errcode?: number }).errcode ?? 0) & 0xff);

/** Whether the damage is in a full-text index, which can be rebuilt from its source. */
export const isIndexDamage = (error: unknown): boolean => (error as { errcode?: number }).errcode === indexDamageCode;

/** The first line of the result of SQLite's check, after its heading. */
export const firstFault = (check: string): string =>
  check.replace(/^\*\*\* in database \w+ \*\*\*\n/, '').split('\n')[0] ?? check;

export type DamageWatch = { advice: () => string; onDamage: (damage: DamagedDatabase) => void };

/**
 * A database whose statements throw `DamagedDatabase` when they find damage, because SQLite's own error names neither the
 * file nor a remedy. Only this file knows SQLite's codes for damage.
 */
export class WatchedDatabase extends DatabaseSync {
  readonly #file: string;
  readonly #watch: DamageWatch;

  constructor(file: string, options: DatabaseSyncOptions, watch: DamageWatch) {
    super(file, options);
    this.#file = file;
    this.#watch = watch;
  }

  override exec(sql: string): void {
    this.#guard(() => super.exec(sql));
  }

  override prepare(sql: string): StatementSync {
    const statement = this.#guard(() => super.prepare(sql));
    statement.get = this.#guarded(statement, statement.get);
    statement.all = this.#guarded(statement, statement.all);
    statement.run = this.#guarded(statement, statement.run);
    return statement;
  }

  /** Reports damage that the check of a file has found before any statement. */
  report(why: string): DamagedDatabase {
    const damage = new DamagedDatabase(`${this.#file} is damaged (${firstFault(why)}). ${this.#watch.advice()}`);
    this.#watch.onDamage(damage);
    return damage;
  }

  #guarded<F extends (...values: never[]) => unknown>(statement: StatementSync, work: F): F {
    return ((...values: never[]) => {
      try {
        return work.apply(statement, values);
      } catch (error) {
        throw this.#named(error);
      }
    }) as F;
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw this.#named(error);
    }
  }

  #named(error: unknown): unknown {
    return isDamage(error) ? Object.assign(this.report((error as Error).message), { cause: error }) : error;
  }
}
