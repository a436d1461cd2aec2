import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { repositoryRoot } from '../repository-root.ts';
import { disarmCopies } from './copy-databases.ts';

test.each([
  ['was replaced by another', `DELETE FROM role`],
  ['applies on some channels only', `UPDATE role SET surfaces = '["messenger"]'`],
])('the user of a dry run gets an answer although the role of the owner %s', (_, change) => {
  const { path: folder, remove } = temporaryFolder();
  onTestFinished(remove);
  const paths = dataPaths(folder);
  const migrations = path.join(repositoryRoot, 'apps/core/src/db/migrations');
  const db = new DatabaseSync(paths.coreDb);
  onTestFinished(() => db.close());
  for (const name of readdirSync(migrations).toSorted()) db.exec(readFileSync(path.join(migrations, name), 'utf8'));
  db.exec(
    `INSERT INTO role (id, name, tier, tool_policy, surfaces, description) VALUES ('role_1', 'owner', 'SACRED', 'full', '*', '')`,
  );
  db.exec(change);
  disarmCopies(paths);
  const grants = db
    .prepare(
      `SELECT r.tier, r.surfaces FROM trust_grant g JOIN role r ON r.id = g.role_id JOIN principal p ON p.id = g.principal_id
       WHERE p.key = 'svc-update-dry-run'`,
    )
    .all();
  expect(grants.map((grant) => ({ ...grant }))).toEqual([{ tier: 'SACRED', surfaces: '*' }]);
});
