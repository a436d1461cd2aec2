import { isLoopbackUrl } from '@svc/service-kit/http/loopback.ts';

/** Schemes that a browser would act on itself, in place of handing the address to a program. */
const unsafeSchemes = new Set([
  'javascript',
  'data',
  'vbscript',
  'file',
  'blob',
  'about',
  'filesystem',
  'view-source',
  'ws',
  'wss',
  'ftp',
  'mailto',
  'tel',
  'sms',
  'intent',
]);
/** A name, or an address in brackets, with a port. */
const plainHost = /^[\w.:[\]-]+$/;
const maxUris = 20;
const maxUriChars = 2_000;

/**
 * Where a client may have people sent back to: an https address, http on this machine, or a scheme of its own program. Null when all are
 * good, else why one is not.
 */
export function redirectFault(uris: unknown): string | null {
  if (!Array.isArray(uris) || uris.length === 0) return 'redirect_uris must list at least one address';
  if (uris.length > maxUris) return `redirect_uris may list up to ${maxUris} addresses`;
  return uris.map(faultOf).find((fault) => fault !== null) ?? null;
}

function faultOf(uri: unknown): string | null {
  const url = typeof uri === 'string' && uri.length <= maxUriChars && /^[\x21-\x7e]+$/.test(uri) ? URL.parse(uri) : null;
  if (url === null) return 'a redirect URI is not a valid address';
  if ((uri as string).includes('#')) return 'a redirect URI must not have a fragment';
  if (url.username !== '' || url.password !== '') return 'a redirect URI must not have a user name';
  const scheme = url.protocol.slice(0, -1);
  // The page's policy names it, where other signs would mean something.
  if (/^https?$/.test(scheme) && !plainHost.test(url.host))
    return 'the host of a redirect URI may have only letters, digits, dots and dashes';
  if (scheme === 'http') {
    return isLoopbackUrl(url) ? null : 'a redirect URI with http must lead to this machine (127.0.0.1 or localhost)';
  }
  return unsafeSchemes.has(scheme) ? `a redirect URI must not begin with ${scheme}:` : null;
}

/** What a page that sends a form towards it has to allow: the origin, or the scheme of a program. */
export function redirectSource(uri: string): string {
  const url = new URL(uri);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.origin : url.protocol;
}
