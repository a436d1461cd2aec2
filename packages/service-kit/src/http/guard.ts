import { ServiceError } from '../service-error.ts';
import { isLoopbackName } from './loopback.ts';

type Headers = Record<string, string | string[] | undefined>;

/**
 * Decides who may call a loopback port. A web page on the same machine can reach it too, so the headers that browsers set are
 * checked on every request: a foreign `Host` is DNS rebinding, a foreign `Origin` is another site.
 */
export type Guard = (headers: Headers, method?: string) => ServiceError | null;

/** Exceptions for other web sites, where a protocol needs them. The check of `Host` has none. */
export type Opening = {
  /**
   * A person may come from another site by a link or redirect that opens a whole page with GET. Forms of the page itself may
   * come without an origin, as from a page that sends no referrer. Such a route must change nothing on GET.
   */
  navigable?: boolean;
  /**
   * Origins whose pages may call, such as `https://app.example`; `*` is any. Only for routes that authenticate by a token,
   * never by a cookie, which the browser would add to requests of any page.
   */
  origins?: readonly string[];
};

/** `allowed` contains the bind address and the operator's public host names, lower case, without port. */
export function createGuard(allowed: readonly string[], { navigable = false, origins = [] }: Opening = {}): Guard {
  const names = new Set(allowed.map((name) => name.toLowerCase()));
  const isOurs = (host: string) => names.has(host) || isLoopbackName(host);

  const isOpen = (headers: Headers, method: string | undefined) =>
    isListed(origins, headers.origin) || (navigable && (isNavigation(headers, method) || isOwnForm(headers)));

  return (headers, method) => {
    const hostHeader = one(headers.host);
    if (headers.host === undefined) {
      const noHost = 'This request has no Host header. Send the host name of this server in it.';
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

/** Browsers write an origin in only one way, so it need not be parsed. */
const isListed = (origins: readonly string[], origin: Headers[string]): boolean =>
  typeof origin === 'string' && (origins.includes('*') || origins.includes(origin));

/** A page in its own tab, not in a frame. These headers are set by the browser; scripts cannot set them. */
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

/** A script, image or style in a page of another port of this host, for which browsers send no origin. */
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
