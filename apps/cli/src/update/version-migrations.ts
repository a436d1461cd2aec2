import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { whyNotOnNewer } from './older-code.ts';

const apps = ['core', 'manager', 'collector', 'vault', 'login'] as const;

/** The migrations of an app in a version: file names with first lines. The login is a second database of the core. */
function migrationsOf(root: string, app: string): Map<string, string> {
  const folder = path.join(root, 'apps', app === 'login' ? 'core/src/db/login-migrations' : `${app}/src/db/migrations`);
  if (!existsSync(folder)) return new Map();
  const names = readdirSync(folder).filter((name) => /^\d{3}-[\w-]+\.sql$/.test(name));
  return new Map(names.map((name) => [name, readFileSync(path.join(folder, name), 'utf8').split('\n')[0] ?? '']));
}

/** Why the code of one version does not work on databases migrated by another; null when it does. Both are folders. */
export function whyNotBack(older: string, newer: string): string | null {
  for (const app of apps) {
    const known = migrationsOf(older, app);
    // Code from before the login never opens its database.
    const why = app === 'login' && known.size === 0 ? null : whyNotOnNewer(known.keys(), migrationsOf(newer, app));
    if (why !== null) return `${app}: ${why}`;
  }
  return null;
}

/** The same for the present databases. `applied`: their migrations, by app. `knows`: a version that has these migrations. */
export function whyNotOnDatabases(older: string, applied: ReadonlyMap<string, readonly string[]>, knows: string): string | null {
  for (const [app, names] of applied) {
    const lines = migrationsOf(knows, app);
    const why = whyNotOnNewer(migrationsOf(older, app).keys(), new Map(names.map((name) => [name, lines.get(name) ?? ''])));
    if (why !== null) return `${app}: ${why}`;
  }
  return null;
}
