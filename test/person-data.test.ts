import path from 'node:path';
import { migrate } from '@svc/store/migrate.ts';
import { openSqlite } from '@svc/store/open-sqlite.ts';
import { placesOf, tablesOf } from '@svc/testing/person-data.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { expect, test } from 'vitest';
import { root } from './repository.ts';

test.each(Object.entries(tablesOf))('every table of the %s has a rule for removing a person', async (name, tables) => {
  const db = openSqlite(':memory:');
  migrate(db, path.join(root, 'apps', name === 'login' ? 'core/src/db/login-migrations' : `${name}/src/db/migrations`));
  const found = db.raw
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'`)
    .all();
  await db.close();
  const names = found.map((row) => String(row['name']));
  const file = 'packages/testing/src/person-data.ts';
  const unsaid = names
    .filter((table) => !(table in tables))
    .map((table) => `${file}: say under ${name} what takes a person out of \`${table}\``);
  const gone = Object.keys(tables).filter((table) => !names.includes(table));
  expect([...unsaid, ...gone.map((table) => `${file}: take out \`${table}\`, which the ${name} does not have`)]).toEqual([]);
});

test('every place in the data folder has a rule for removing a person', () => {
  const places = Object.keys(dataPaths('/data')).filter((name) => name !== 'root' && !name.endsWith('Db'));
  expect(Object.keys(placesOf).toSorted()).toEqual(places.toSorted());
});
