import { isIP } from 'node:net';
import { ServiceError } from '@svc/service-kit/service-error.ts';

/**
 * The host name that a passkey of this page is bound to.
 * @throws ServiceError `unprocessable` for an IP address: browsers create no passkeys there
 */
export function passkeyHost({ hostname, port }: URL): string {
  if (isIP(hostname.replace(/^\[|\]$/g, '')) === 0) return hostname;
  const there = `http://localhost${port === '' ? '' : `:${port}`}`;
  throw new ServiceError(
    'unprocessable',
    `A passkey needs a host name, not ${hostname}. On this machine, open ${there} instead.`,
  );
}
