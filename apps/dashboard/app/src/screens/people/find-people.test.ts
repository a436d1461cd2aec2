import type { Principal } from '@svc/contract/trust.ts';
import { expect, test } from 'vitest';
import { findPeople } from './find-people.ts';

const person = (key: string, name: string, value: string, role: string) =>
  ({
    id: `p-${key}`,
    key,
    display_name: name,
    identifiers: [{ surface: 'messenger', value }],
    grants: [{ role }],
  }) as Principal;
const people = [person('anna', 'Anna Weiß', '4711', 'owner'), person('bob', 'Bob', 'anna-fan', 'guest')];
const found = (text: string) => findPeople(people, text).map(({ key }) => key);

test('people are found by all words in names, identifiers and roles, ignoring case', () => {
  expect(found('')).toEqual(['anna', 'bob']);
  expect(found('  ')).toEqual(['anna', 'bob']);
  expect(found('ANNA')).toEqual(['anna', 'bob']);
  expect(found('weiß')).toEqual(['anna']);
  expect(found('messenger 4711')).toEqual(['anna']);
  expect(found('guest bo')).toEqual(['bob']);
  expect(found('4711 bob')).toEqual([]);
});
