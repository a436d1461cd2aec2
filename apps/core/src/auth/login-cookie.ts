import type { IncomingHttpHeaders } from 'node:http';
import { isLoopbackUrl } from '@svc/service-kit/http/loopback.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';

/** Cookies of the login: of a session, of a browser that has signed in before, of the one that opened a set-up link. */
export type CookieKind = 'login' | 'device' | 'setup';

const maxAgeS: Record<CookieKind, number> = { login: 12 * 60 * 60, device: 400 * 24 * 60 * 60, setup: 15 * 60 };

const secureName = (kind: CookieKind) => `__Host-svc-${kind}`;
/** Only for plain HTTP on loopback, where Safari drops `Secure` cookies. */
const plainName = (kind: CookieKind) => `svc-${kind}`;

/** The values of the request's cookies, the secure one first. */
export function cookiesOf(kind: CookieKind, { cookie = '' }: IncomingHttpHeaders): string[] {
  const pairs = cookie.split(';').map((pair) => pair.trim().split('='));
  return [secureName(kind), plainName(kind)].flatMap((name) =>
    pairs.filter(([key]) => key === name).map(([, value = '']) => value),
  );
}

/** Writes a cookie for the origin of a page; an empty value removes it. */
export function writeCookie(kind: CookieKind, origin: URL, value: string): string {
  const isSecure = origin.protocol === 'https:';
  const age = value === '' ? 0 : maxAgeS[kind];
  const name = isSecure ? secureName(kind) : plainName(kind);
  const base = `${name}=${value}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict`;
  return isSecure ? `${base}; Secure` : base;
}

/**
 * The origin of the requesting page. The guard has compared it with `Host`; here it must be present, and safe for a login.
 * @throws ServiceError `bad_origin`
 */
export function originOf(headers: IncomingHttpHeaders): URL {
  const { origin = '', 'sec-fetch-site': site = 'same-origin' } = headers;
  const url = URL.canParse(origin) ? new URL(origin) : null;
  if (url === null || site !== 'same-origin')
    throw new ServiceError(
      'bad_origin',
      'Only pages of this service may send this request. Its Origin header is missing or names another site.',
    );
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackUrl(url))) return url;
  throw new ServiceError('bad_origin', 'Sign in over HTTPS. Over HTTP, others on the network could read the password.');
}
