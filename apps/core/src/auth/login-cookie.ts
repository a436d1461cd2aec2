import type { IncomingHttpHeaders } from 'node:http';
import { ServiceError } from '@svc/service-kit/service-error.ts';

const secureName = '__Host-svc-login';
/** On plain loopback http alone, where Safari drops a cookie that is `Secure`. */
const plainName = 'svc-login';
const maxAgeS = 12 * 60 * 60;
const loopbackNames = new Set(['localhost', '127.0.0.1', '[::1]']);

/** The cookies' values that came, the safe one first. */
export function loginCookies({ cookie = '' }: IncomingHttpHeaders): string[] {
  const pairs = cookie.split(';').map((pair) => pair.trim().split('='));
  return [secureName, plainName].flatMap((name) => pairs.filter(([key]) => key === name).map(([, value = '']) => value));
}

/** Writes the cookie for the origin that a page is of; an empty value takes it away. */
export function writeLoginCookie(origin: URL, value: string): string {
  const isSecure = origin.protocol === 'https:';
  const age = value === '' ? 0 : maxAgeS;
  const base = `${isSecure ? secureName : plainName}=${value}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict`;
  return isSecure ? `${base}; Secure` : base;
}

/**
 * The origin of the page that asks. The guard has compared it with `Host`; here it must be there, and safe for a login.
 * @throws ServiceError `bad_origin`
 */
export function originOf(headers: IncomingHttpHeaders): URL {
  const { origin = '', 'sec-fetch-site': site = 'same-origin' } = headers;
  const url = URL.canParse(origin) ? new URL(origin) : null;
  if (url === null || site !== 'same-origin')
    throw new ServiceError('bad_origin', 'Only the page of this service may do this: send its Origin.');
  if (url.protocol === 'https:' || (url.protocol === 'http:' && loopbackNames.has(url.hostname))) return url;
  throw new ServiceError('bad_origin', 'Sign in over https: on this address others could read the password.');
}
