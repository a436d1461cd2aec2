import { RequestError } from '@octokit/request-error';
import { expect, test } from 'vitest';
import { toFault } from './to-fault.ts';

const refused = (status: number, message: string) => {
  const request = { method: 'POST' as const, url: 'https://api.github.test/', headers: {} };
  const response = { status, url: request.url, headers: {}, data: {}, retryCount: 0 };
  return toFault(new RequestError(message, status, { request, response }), 0);
};

test.each([
  [
    'Resource not accessible by personal access token',
    ': Resource not accessible by personal access token. Check the permissions',
  ],
  ['You may not.', ': You may not. Check the permissions'],
  ['', '. Check the permissions'],
])('a refusal names the required permissions when GitHub says "%s"', (said, shown) => {
  const fault = refused(403, said);
  expect(fault.message).toContain(`GitHub refused the request (403)${shown}`);
  expect(fault).toMatchObject({ code: 'forbidden', message: expect.stringContaining('Issues: read and write') });
});

test.each([[new Error('redirect count exceeded')], [new TypeError('fetch failed', { cause: new Error('cut') })], ['a text']])(
  'reports a failed connection without an error code: %s',
  (error) => {
    expect(toFault(error, 0).message).toBe('GitHub did not answer.');
  },
);

test('reports a failed connection with its error code', () => {
  const cause = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
  expect(toFault(new TypeError('fetch failed', { cause }), 0).message).toBe('GitHub did not answer (ECONNRESET).');
});
