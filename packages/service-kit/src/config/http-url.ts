import { isIPv4 } from 'node:net';

export const isHttpUrl = (value: string): boolean => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);

/** An http address of this machine, without user, path or query. */
export function isLocalUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname, username, pathname, search } = new URL(value);
  const isHere = hostname === 'localhost' || hostname === '[::1]' || (isIPv4(hostname) && hostname.startsWith('127.'));
  return protocol === 'http:' && isHere && username === '' && pathname === '/' && search === '';
}
