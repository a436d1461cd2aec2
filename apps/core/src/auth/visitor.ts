import type { IncomingHttpHeaders } from 'node:http';
import { cookiesOf, originOf } from './login-cookie.ts';

/** The sender of a request, as far as known before any authentication. */
export type Visitor = {
  /** The browser's user agent. */
  device: string;
  deviceCookies: readonly string[];
  setupCookies: readonly string[];
  /** The origin of the page; passkeys are bound to its host name. */
  origin: URL;
};

/** @throws ServiceError `bad_origin` */
export const visitorOf = (headers: IncomingHttpHeaders): Visitor => ({
  device: (headers['user-agent'] ?? 'a program without a name').slice(0, 256),
  deviceCookies: cookiesOf('device', headers),
  setupCookies: cookiesOf('setup', headers),
  origin: originOf(headers),
});
