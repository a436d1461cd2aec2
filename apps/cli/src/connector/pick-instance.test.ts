import { expect, test } from 'vitest';
import type { Instance } from '@svc/contract/instance.ts';
import { pickInstance } from './pick-instance.ts';

const instances = [
  { id: 'messenger', name: 'Home' },
  { id: 'messenger-2', name: 'Work' },
  { id: 'messenger-3', name: 'Work' },
  { id: 'chatroom', name: 'messenger' },
] as Instance[];

test.each([
  ['messenger-2', 'messenger-2'],
  ['Home', 'messenger'],
  // An id takes precedence over a name.
  ['messenger', 'messenger'],
])('%s selects %s', (name, id) => {
  expect(pickInstance(instances, name).id).toBe(id);
});

test('rejects a name that several instances or none have', () => {
  expect(() => pickInstance(instances, 'Work')).toThrow(
    expect.objectContaining({ why: expect.stringContaining('messenger-2, messenger-3') }),
  );
  expect(() => pickInstance(instances, 'work')).toThrow('there is no connector "work"');
  expect(() => pickInstance([], 'x')).toThrow(expect.objectContaining({ run: './svc connector add' }));
});
