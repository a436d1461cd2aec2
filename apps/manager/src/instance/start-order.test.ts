import { expect, test } from 'vitest';
import type { StoredInstance } from './instance-store.ts';
import { inOrderOfWorth } from './start-order.ts';

const instance = (id: string, type = 'messenger', config = {}): StoredInstance => ({
  id,
  type,
  name: id,
  enabled: true,
  config,
  created_at: 0,
  updated_at: 0,
});
const ids = (instances: StoredInstance[]) => instances.map(({ id }) => id);
const worth = (open: number, last_used_at = 0, persons = 0) => ({ open, last_used_at, persons });

test('instances start by open requests, then the API, last use, and number of people', () => {
  const all = ['never', 'few', 'many', 'recent', 'waits'].map((id) => instance(id));
  const known = {
    few: worth(0, 10, 1),
    many: worth(0, 10, 9),
    recent: worth(0, 20, 1),
    waits: worth(1),
  };
  expect(ids(inOrderOfWorth([...all, instance('api', 'compat')], known))).toEqual([
    'waits',
    'api',
    'recent',
    'many',
    'few',
    'never',
  ]);
});

test('start_order of the operator takes precedence over all else', () => {
  const all = [
    instance('last', 'compat', { start_order: 99 }),
    instance('usual'),
    instance('first', 'email', { start_order: 1 }),
  ];
  expect(ids(inOrderOfWorth(all, { last: worth(5, 99, 9), usual: worth(1) }))).toEqual(['first', 'usual', 'last']);
});

test('without usage data instances start in order of creation, the API first', () => {
  const all = ['b', 'a', 'c'].map((id) => instance(id));
  expect(ids(inOrderOfWorth([...all, instance('api', 'compat')], {}))).toEqual(['api', 'b', 'a', 'c']);
});
