import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { root } from './repository.ts';

const folders = readdirSync(path.join(root, 'apps'))
  .map((app) => `apps/${app}/src/db/migrations`)
  .filter((folder) => existsSync(path.join(root, folder)));

/** Merged with the same number before this test existed. Databases know migrations by name, so they stay. */
const twice = ['apps/core/src/db/migrations/019-delivery-message.sql'];

test.each(folders)('the migrations of %s are numbered without a gap, also in their first line', (folder) => {
  const files = readdirSync(path.join(root, folder))
    .filter((name) => !twice.includes(`${folder}/${name}`))
    .toSorted();
  const numbers = files.map((name) => /^(\d{3})-[\w-]+\.sql$/.exec(name)?.[1]);
  expect(numbers).toEqual(files.map((_name, index) => String(index + 1).padStart(3, '0')));
  const said = files.map((name) => /^-- (\d{3}) /.exec(readFileSync(path.join(root, folder, name), 'utf8'))?.[1]);
  expect(said).toEqual(numbers);
});
