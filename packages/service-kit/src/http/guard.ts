import { isIP } from 'node:net';
import { ServiceError } from '../service-error.ts';

type Headers = Record<string, string | string[] | undefined>;

/**
 * Who may talk to a loopback port. A web page on the same machine can reach it too, so the browser's own marks are
 * checked on every request: a `Host` that is not ours is DNS rebinding, an `Origin` that is not ours is another site.
 */
export type Guard = (headers: Headers) => ServiceError | null;

/** `allowed` holds the bind address and the operator's public host names, lower case, without port. */
export function createGuard(allowed: readonly string[]): Guard {
  const names = new Set(allowed.map((name) => name.toLowerCase()));
  const isOurs = (host: string) => names.has(host) || isLoopbackName(host);

  return (headers) => {
    const hostHeader = one(headers.host);
    if (headers.host === undefined) {
      const noHost = 'This request has no Host header. Send the name of the host that it is for.';
      return new ServiceError('bad_host', noHost, { status: 400 });
    }
    const host = hostHeader === null ? null : hostName(hostHeader);
    if (host === null || !isOurs(host)) {
      return new ServiceError('bad_host', 'This host name is not served here. Add it to SVC_ALLOWED_HOSTS if it is yours.');
    }
    if (headers.origin !== undefined && !isSameOrigin(one(headers.origin), hostHeader!)) {
      return new ServiceError('bad_origin', 'Requests from other web sites are refused.');
    }
    if (headers['sec-fetch-site'] === 'cross-site') {
      return new ServiceError('bad_origin', 'Requests from other web sites are refused.');
    }
    return null;
  };
}

const one = (value: string | string[] | undefined): string | null => (typeof value === 'string' ? value : null);

function hostName(header: string): string | null {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d{1,5})?$/i.exec(header);
  return match === null ? null : match[1]!.replace(/^\[|\]$/g, '').toLowerCase();
}

/** Only `localhost` and address literals count: `127.evil.example` is a name that anyone may own. */
function isLoopbackName(host: string): boolean {
  if (host === 'localhost') return true;
  return isIP(host) === 4 ? host.startsWith('127.') : host === '::1';
}

function isSameOrigin(origin: string | null, hostHeader: string): boolean {
  if (origin === null || !URL.canParse(origin)) return false;
  return new URL(origin).host === hostHeader.toLowerCase();
}
