import type { IncomingHttpHeaders } from 'node:http';
import { cookiesOf, originOf } from './login-cookie.ts';

/** Who asks, as far as can be known before they have proven anything. */
export type Visitor = {
  /** What the browser calls itself. */
  device: string;
  deviceCookies: readonly string[];
  setupCookies: readonly string[];
  /** Of the page; its host name is what a passkey is bound to. */
  origin: URL;
};

/** @throws ServiceError `bad_origin` */
export const visitorOf = (headers: IncomingHttpHeaders): Visitor => ({
  device: (headers['user-agent'] ?? 'a program without a name').slice(0, 256),
  deviceCookies: cookiesOf('device', headers),
  setupCookies: cookiesOf('setup', headers),
  origin: originOf(headers),
});
