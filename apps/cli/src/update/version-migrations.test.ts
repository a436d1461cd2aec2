import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { whyNotBack } from './version-migrations.ts';

function versionWith(files: Record<string, string>): string {
  const { path: folder, remove } = temporaryFolder();
  onTestFinished(remove);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  return folder;
}

test.each(['core/src/db/migrations', 'core/src/db/login-migrations', 'vault/src/db/migrations'])(
  'a version whose migrations in %s the older code does not work with allows no rollback',
  (folder) => {
    const first = { [`apps/${folder}/001-init.sql`]: '-- 001\n' };
    const next = (line: string) => versionWith({ ...first, [`apps/${folder}/002-next.sql`]: `${line}\n` });
    const older = versionWith(first);
    expect(whyNotBack(older, next('-- 002: other columns'))).toContain('002-next.sql does not say');
    expect(whyNotBack(older, next('-- 002 (code from 001 on still runs): a column'))).toBeNull();
  },
);

test('a database that the older version does not have prevents no rollback', () => {
  const older = versionWith({ 'apps/core/src/db/migrations/001-init.sql': '-- 001\n' });
  const login = { 'apps/core/src/db/login-migrations/001-login.sql': 'CREATE TABLE login (x);\n' };
  expect(whyNotBack(older, versionWith({ ...login, 'apps/core/src/db/migrations/001-init.sql': '-- 001\n' }))).toBeNull();
});
