import { existsSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import { appliedMigrations } from '@svc/store/applied-migrations.ts';
import { copyDatabase } from '@svc/store/copy-database.ts';

export type Databases = Pick<DataPaths, 'coreDb' | 'managerDb' | 'collectorDb'>;

const keys = ['coreDb', 'managerDb', 'collectorDb'] as const;

/** What copies of the databases take, in bytes. */
export const bytesOf = (paths: Databases): number =>
  keys
    .flatMap((key) => [paths[key], `${paths[key]}-wal`])
    .reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);

/** Copies the databases, which the service goes on using, to another data folder, each as it is between two transactions. */
export async function copyDatabases(from: Databases, to: Databases): Promise<void> {
  for (const key of keys) if (existsSync(from[key])) await copyDatabase(from[key], to[key]);
}

/** Who talks to the copy. */
const tryer = 'svc-update-dry-run';

/**
 * Makes copies harmless to start a service on: no channel is opened, nothing that is due runs or is sent, no engine of the operator's is asked, and
 * the user of this shell may say something. Knows the schema of this version, which is the one that wrote them.
 */
export function disarmCopies({ coreDb, managerDb }: Databases): void {
  const user = userInfo().username;
  change(managerDb, [['UPDATE instance SET enabled = 0'], ["UPDATE held_announcement SET state = 'failed'"]]);
  change(coreDb, [
    ["UPDATE turn SET open = 0, state = 'failed' WHERE open = 1"],
    ["UPDATE delivery SET state = 'failed', next_at = NULL WHERE state = 'pending'"],
    ['UPDATE engine_setting SET is_default = 0, auto_update = 0'],
    ["UPDATE identifier SET value = value || ' (before)' WHERE surface = 'shell' AND value = ?", user],
    [
      `INSERT INTO principal (id, key, display_name, status, bypass_moderation, notes, created_at, updated_at)
       VALUES (?, ?, ?, 'active', 1, '', 0, 0)`,
      tryer,
      tryer,
      tryer,
    ],
    ["INSERT INTO identifier (id, principal_id, surface, value) VALUES (?, ?, 'shell', ?)", tryer, tryer, user],
    ["INSERT INTO trust_grant (id, principal_id, role_id) SELECT ?, ?, id FROM role WHERE name = 'owner'", tryer, tryer],
  ]);
}

function change(file: string, statements: readonly [sql: string, ...values: SQLInputValue[]][]): void {
  if (!existsSync(file)) return;
  const db = new DatabaseSync(file);
  try {
    for (const [sql, ...values] of statements) db.prepare(sql).run(...values);
  } finally {
    db.close();
  }
}

/** The migrations that the databases have had, by their app. */
export function migrationsByApp({ coreDb, managerDb, collectorDb }: Databases): Map<string, string[]> {
  const files = Object.entries({ core: coreDb, manager: managerDb, collector: collectorDb });
  return new Map(files.flatMap(([app, file]) => (existsSync(file) ? [[app, appliedMigrations(file)]] : [])));
}
