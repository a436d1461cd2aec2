import { isIP } from 'node:net';

/** Only `localhost` and address literals count: `127.evil.example` is a name that anyone may own. */
export function isLoopbackName(host: string): boolean {
  if (host === 'localhost') return true;
  return isIP(host) === 4 ? host.startsWith('127.') : host === '::1';
}

/** Whether an address is on this machine: it is not reached through a proxy, and gets no vendor's key. */
export const isLoopbackUrl = (url: string | URL): boolean => isLoopbackName(new URL(url).hostname.replace(/^\[|\]$/g, ''));
