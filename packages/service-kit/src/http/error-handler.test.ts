import { expect, test } from 'vitest';
import { toServiceError } from './error-handler.ts';

test.each([
  ['a file', Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })],
  ['a quota', Object.assign(new Error('EDQUOT: quota exceeded, write'), { code: 'EDQUOT' })],
  ['the database', Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 })],
])('reports a full disk for %s as unavailable, so that it can be retried', (_what, error) => {
  expect(toServiceError(error)).toMatchObject({ status: 503, code: 'unavailable', message: expect.stringContaining('no room') });
});

test('does not reveal the message of an unknown error', () => {
  const known = toServiceError(new Error('password in here'));
  expect(known).toMatchObject({ status: 500, code: 'internal' });
  expect(known.message).not.toContain('password');
});

test.each([
  [{ name: 'DamagedDatabase' }, 'a database of the service is damaged'],
  [{ code: 'ERR_SQLITE_ERROR', errcode: 8 }, 'a database of the service cannot be written'],
  [{ code: 'ERR_SQLITE_ERROR', errcode: 10 | (3 << 8) }, 'a database of the service cannot be read or written'],
  [{ code: 'EACCES' }, 'this user has no access to a required file'],
  [{ code: 'EMFILE' }, 'the service has too many files open'],
])('names a storage fault without its path: %j', (fault, why) => {
  const known = toServiceError(Object.assign(new Error('/home/anna/.svc/core.db: bad'), fault));
  expect(known).toMatchObject({ status: 500, code: 'internal', details: { cause: 'storage' } });
  expect(known.message).toBe(`The request failed because ${why}. Run ./svc doctor for details.`);
});
