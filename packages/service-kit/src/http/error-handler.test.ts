import { expect, test } from 'vitest';
import { toServiceError } from './error-handler.ts';

test.each([
  ['a file', Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })],
  ['a quota', Object.assign(new Error('EDQUOT: quota exceeded, write'), { code: 'EDQUOT' })],
  ['the database', Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 })],
])('a disk without room for %s is told as what it is, and may be tried again', (_what, error) => {
  expect(toServiceError(error)).toMatchObject({ status: 503, code: 'unavailable', message: expect.stringContaining('no room') });
});

test('a fault that is not ours keeps its text to itself', () => {
  const known = toServiceError(new Error('password in here'));
  expect(known).toMatchObject({ status: 500, code: 'internal' });
  expect(known.message).not.toContain('password');
});
