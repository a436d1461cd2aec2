import { isIP } from 'node:net';

/** The location of a repository. `host` is a DNS name, or an IP address without brackets. */
export type GitSource = { url: string; scheme: 'https' | 'http' | 'git'; host: string; port: number; isAllowed: boolean };

type Parsed = { ok: true; source: GitSource } | { ok: false; why: string };

const ports: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80, 'git:': 9418 };
const no = (why: string): Parsed => ({ ok: false, why });

/**
 * Parses an address that may be passed to git. `allowed` are the operator's hosts, `name` or `name:port`, which may be private and may use
 * http or git's own protocol; all others have to use https.
 */
export function parseGitUrl(text: string, allowed: readonly string[]): Parsed {
  // oxlint-disable-next-line no-control-regex -- it looks for them
  if (/[\u0000-\u0020\u007f\\]/.test(text)) return no('it has spaces, control characters or a backslash in it');
  const url = URL.parse(text);
  if (url === null || !/^[a-z]+:\/\//i.test(text)) return no('it is not an address such as https://example.com/owner/name.git');
  const scheme = url.protocol.slice(0, -1);
  if (scheme !== 'https' && scheme !== 'http' && scheme !== 'git') return no(`${url.protocol} is not supported; only https is`);
  if (url.username !== '' || url.password !== '')
    return no('it contains a user name or password; name a secret as "credential" instead');
  if (url.search !== '' || url.hash !== '') return no('it has a query or a fragment');
  if (url.pathname.length < 2) return no('it names no repository');
  if (!/^[a-z0-9.:[\]-]+$/i.test(url.hostname) || /^-|\.$/.test(url.hostname)) return no('its host name is invalid');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = url.port === '' ? (ports[url.protocol] ?? 0) : Number(url.port);
  const isAllowed = allowed.some((one) => one === host || one === `${host}:${port}`);
  if (scheme !== 'https' && !isAllowed) return no(`${scheme} is allowed only for hosts in SVC_CHECKOUT_HOSTS`);
  return { ok: true, source: { url: url.href, scheme, host, port, isAllowed } };
}

/** Pins `curl` to the checked addresses; null where the host is an IP address. */
export function pinOf({ host, port }: GitSource, addresses: readonly string[]): string | null {
  if (isIP(host) !== 0) return null;
  return `${host}:${port}:${addresses.map((one) => (isIP(one) === 6 ? `[${one}]` : one)).join(',')}`;
}

/** What is wrong with the name of a branch, tag or commit; null for a valid one (`git check-ref-format`). */
export function refFault(ref: string): string | null {
  // oxlint-disable-next-line no-control-regex -- it looks for them
  if (/[\u0000-\u0020\u007f~^:?*[\\]/.test(ref)) return 'it has characters that are not allowed in a branch name';
  if (ref.startsWith('-')) return 'it begins with "-"';
  if (ref === '@' || ref.includes('@{') || ref.includes('..')) return 'it has ".." or "@{" in it';
  if (ref.split('/').some((part) => part === '' || part.startsWith('.') || part.endsWith('.lock') || part.endsWith('.')))
    return 'a part of it is empty, begins or ends with ".", or ends with ".lock"';
  return null;
}
