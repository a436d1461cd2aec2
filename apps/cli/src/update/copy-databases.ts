import { existsSync, statSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import { userName } from '@svc/service-kit/user-name.ts';
import { appliedMigrations } from '@svc/store/applied-migrations.ts';
import { copyDatabase } from '@svc/store/copy-database.ts';

export type Databases = Pick<DataPaths, 'coreDb' | 'managerDb' | 'collectorDb'>;

const keys = ['coreDb', 'managerDb', 'collectorDb'] as const;

/** The size of copies of the databases, in bytes. */
export const bytesOf = (paths: Databases): number =>
  keys
    .flatMap((key) => [paths[key], `${paths[key]}-wal`])
    .reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);

/** Copies the databases to another data folder while the service uses them, each in a consistent state between two transactions. */
export async function copyDatabases(from: Databases, to: Databases): Promise<void> {
  for (const key of keys) if (existsSync(from[key])) await copyDatabase(from[key], to[key]);
}

/** The user who chats with the copy. */
const dryRunUser = 'svc-update-dry-run';

/**
 * Makes the copies safe to start a service on: no channel opens, nothing pending runs or is sent, none of the operator's engines is used, and
 * the user of this shell may chat. It uses the schema of this version, which wrote the databases.
 */
export function disarmCopies({ coreDb, managerDb }: Databases): void {
  const user = userName();
  change(managerDb, [['UPDATE instance SET enabled = 0'], ["UPDATE held_announcement SET state = 'failed'"]]);
  change(coreDb, [
    ["UPDATE turn SET open = 0, state = 'failed' WHERE open = 1"],
    ["UPDATE delivery SET state = 'failed', next_at = NULL WHERE state = 'pending'"],
    ['UPDATE engine_setting SET is_default = 0, auto_update = 0'],
    ["UPDATE identifier SET value = value || ' (before)' WHERE surface = 'shell' AND value = ?", user],
    [
      `INSERT INTO principal (id, key, display_name, status, bypass_moderation, notes, created_at, updated_at)
       VALUES (?, ?, ?, 'active', 1, '', 0, 0)`,
      dryRunUser,
      dryRunUser,
      dryRunUser,
    ],
    ["INSERT INTO identifier (id, principal_id, surface, value) VALUES (?, ?, 'shell', ?)", dryRunUser, dryRunUser, user],
    // The operator may have changed or deleted any other role.
    [
      "INSERT INTO role (id, name, tier, tool_policy, surfaces, description) VALUES (?, ?, 'SACRED', 'full', '*', '')",
      dryRunUser,
      dryRunUser,
    ],
    ['INSERT INTO trust_grant (id, principal_id, role_id) VALUES (?, ?, ?)', dryRunUser, dryRunUser, dryRunUser],
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

/** The migrations applied to the databases, by app. */
export function migrationsByApp({ coreDb, managerDb, collectorDb }: Databases): Map<string, string[]> {
  const files = Object.entries({ core: coreDb, manager: managerDb, collector: collectorDb });
  return new Map(files.flatMap(([app, file]) => (existsSync(file) ? [[app, appliedMigrations(file)]] : [])));
}
