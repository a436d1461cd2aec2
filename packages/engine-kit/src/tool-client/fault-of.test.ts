import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { missingText } from '../tool-servers.ts';
import { faultOf } from './fault-of.ts';

const withCause = (code: string, message = 'fetch failed') =>
  new TypeError(message, { cause: Object.assign(new Error(code), { code }) });

test.each([
  [Object.assign(new Error('x'), { code: 'ENOENT', path: '/nowhere' }), 'no_program', 'there is no program /nowhere'],
  [Object.assign(new Error('x'), { code: 'EACCES', path: '/a' }), 'no_program', '/a cannot be run: permission denied'],
  [withCause('ECONNREFUSED'), 'unreachable', 'nothing listens at its address'],
  [withCause('ECONNRESET'), 'unreachable', 'the connection was closed'],
  [withCause('EAI_AGAIN'), 'unreachable', 'its host name cannot be resolved at the moment'],
  [withCause('UND_ERR_CONNECT_TIMEOUT'), 'unreachable', 'its host does not answer'],
  [withCause('CERT_HAS_EXPIRED'), 'unreachable', 'CERT_HAS_EXPIRED'],
  [new SdkError(SdkErrorCode.RequestTimeout, 'x'), 'timeout', 'it did not answer within 10 s'],
])('%s is %s: %s', (error, fault, reason) => expect(faultOf(error, 10_000)).toEqual({ fault, reason }));

test('any error gives a reason that ends one sentence', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string().map((text) => new Error(text)),
        fc.anything(),
        fc.string().map((text) => withCause(text)),
      ),
      (error) => {
        const { reason } = faultOf(error, 1000);
        expect(missingText('kit', reason)).toMatch(/^Tool server kit is not available: \S[^\n]*\.$/);
        expect(reason.length).toBeLessThanOrEqual(300);
      },
    ),
    { numRuns: 500, examples: [[null], [undefined], [''], [new Error('. ')], [Object.create(null)], [withCause('constructor')]] },
  );
});
