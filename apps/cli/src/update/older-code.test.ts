import { expect, test } from 'vitest';
import { whyNotOnNewer } from './older-code.ts';

const line = (number: string, from: string) => `-- ${number} (code from ${from} on still runs): more`;
const applied = new Map([
  ['001-init.sql', '-- 001 (first schema)'],
  ['002-more.sql', line('002', '001')],
  ['003-move.sql', line('003', '002')],
]);

test('older code runs when every migration it does not know allows it', () => {
  expect(whyNotOnNewer(['001-init.sql', '002-more.sql'], applied)).toBeNull();
  expect(whyNotOnNewer(applied.keys(), applied)).toBeNull();
});

test('rejects code older than a migration allows, and names the migration', () => {
  expect(whyNotOnNewer(['001-init.sql'], applied)).toContain('003-move.sql');
});

test('rejects older code for a migration that does not name any', () => {
  expect(whyNotOnNewer(['001-init.sql'], new Map([['002-x.sql', '-- 002: drops a table']]))).toContain('002-x.sql');
});

test('two migrations with the same number are distinguished by name', () => {
  const twice = new Map([...applied, ['003-other.sql', line('003', '003')]]);
  expect(whyNotOnNewer(['001-init.sql', '002-more.sql', '003-move.sql'], twice)).toBeNull();
  expect(whyNotOnNewer(['001-init.sql', '002-more.sql'], twice)).toContain('003-other.sql');
});
