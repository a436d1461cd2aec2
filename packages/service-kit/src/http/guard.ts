import { ServiceError } from '../service-error.ts';
import { isLoopbackName } from './loopback.ts';

type Headers = Record<string, string | string[] | undefined>;

/**
 * Who may talk to a loopback port. A web page on the same machine can reach it too, so the browser's own marks are
 * checked on every request: a `Host` that is not ours is DNS rebinding, an `Origin` that is not ours is another site.
 */
export type Guard = (headers: Headers, method?: string) => ServiceError | null;

/** What other web sites may do after all, where a protocol needs it. The check of `Host` is never opened. */
export type Opening = {
  /**
   * A person may come here from another site: a link or a redirect that opens a whole page, by GET. Its own forms may come
   * without an origin, as they do from a page that sends no referrer. Such a route must change nothing on GET.
   */
  navigable?: boolean;
  /**
   * Origins whose pages may call, such as `https://app.example`; `*` is any. Only for routes that take a token of the caller,
   * never a cookie: what a page sends counts as its own.
   */
  origins?: readonly string[];
};

/** `allowed` holds the bind address and the operator's public host names, lower case, without port. */
export function createGuard(allowed: readonly string[], { navigable = false, origins = [] }: Opening = {}): Guard {
  const names = new Set(allowed.map((name) => name.toLowerCase()));
  const isOurs = (host: string) => names.has(host) || isLoopbackName(host);

  const isOpen = (headers: Headers, method: string | undefined) =>
    isListed(origins, headers.origin) || (navigable && (isNavigation(headers, method) || isOwnForm(headers)));

  return (headers, method) => {
    const hostHeader = one(headers.host);
    if (headers.host === undefined) {
      const noHost = 'This request has no Host header. Send the name of the host that it is for.';
      return new ServiceError('bad_host', noHost, { status: 400 });
    }
    const host = hostHeader === null ? null : hostName(hostHeader);
    if (host === null || !isOurs(host)) {
      return new ServiceError('bad_host', 'This host name is not served here. Add it to SVC_ALLOWED_HOSTS if it is yours.');
    }
    if (isForeign(headers, hostHeader!) && !isOpen(headers, method)) {
      return new ServiceError('bad_origin', 'Requests from other web sites are refused.');
    }
    return null;
  };
}

/** An origin is compared as the browser writes it: one spelling, so nothing has to be parsed. */
const isListed = (origins: readonly string[], origin: Headers[string]): boolean =>
  typeof origin === 'string' && (origins.includes('*') || origins.includes(origin));

/** A page of its own in a tab, in no frame of another: only a browser sets these headers, no script can. */
const isNavigation = (headers: Headers, method: string | undefined): boolean =>
  method === 'GET' &&
  headers.origin === undefined &&
  headers['sec-fetch-mode'] === 'navigate' &&
  headers['sec-fetch-dest'] === 'document';

const isOwnForm = (headers: Headers): boolean =>
  headers.origin === 'null' && headers['sec-fetch-site'] === 'same-origin' && headers['sec-fetch-mode'] === 'navigate';

const isForeign = (headers: Headers, hostHeader: string): boolean =>
  headers['sec-fetch-site'] === 'cross-site' ||
  isEmbedded(headers) ||
  (headers.origin !== undefined && !isSameOrigin(one(headers.origin), hostHeader));

/** A script, a picture or a style in a page of another port of this host, for which a browser sends no origin. */
const isEmbedded = (headers: Headers): boolean =>
  headers['sec-fetch-site'] === 'same-site' && headers['sec-fetch-mode'] === 'no-cors';

const one = (value: string | string[] | undefined): string | null => (typeof value === 'string' ? value : null);

function hostName(header: string): string | null {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d{1,5})?$/i.exec(header);
  return match === null ? null : match[1]!.replace(/^\[|\]$/g, '').toLowerCase();
}

function isSameOrigin(origin: string | null, hostHeader: string): boolean {
  if (origin === null || !URL.canParse(origin)) return false;
  return new URL(origin).host === hostHeader.toLowerCase();
}
