import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { ClientRequest, IncomingMessage } from '@svc/service-kit/builtin.ts';
import { isPublicAddress } from '@svc/service-kit/http/public-address.ts';

/** How hosts are resolved and connections opened. */
export type Network = {
  isAllowed(address: string): boolean;
  resolve(host: string): Promise<LookupAddress[]>;
  request(url: URL, options: RequestOptions, onResponse: (response: IncomingMessage) => void): ClientRequest;
};
type RequestOptions = {
  method: 'GET' | 'POST';
  lookup: LookupFunction;
  signal: AbortSignal;
  agent: false;
  headers: Record<string, string>;
};

/** A request to a host. */
export type PublicRequest = {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: Buffer;
  signal: AbortSignal;
};

/** A stranger may not request this address. The message is half a sentence, the same for every host that is not public. */
export class NotPublicError extends Error {}

const maxUrlChars = 8_192;

export const internet: Network = {
  isAllowed: isPublicAddress,
  resolve: (host) => process.getBuiltinModule('node:dns/promises').lookup(host, { all: true }),
  // Not imported, so that a connector that fetches nothing does not load it.
  request: (url, options, onResponse) => process.getBuiltinModule('node:https').request(url, options, onResponse),
};

/** @throws NotPublicError for anything but an https address without credentials */
export function parsePublicUrl(address: string, base?: URL): URL {
  const url = address.length > maxUrlChars || !URL.canParse(address, base?.href) ? null : new URL(address, base?.href);
  if (url === null || url.protocol !== 'https:') throw new NotPublicError('only addresses that begin with https:// are fetched');
  if (url.username !== '' || url.password !== '') throw new NotPublicError('an address with a name or password is not fetched');
  return url;
}

/**
 * Sends a request for a stranger, who must not reach this machine's network through it: all of the host's addresses must be public, and the
 * connection goes to the very address that was checked. Redirects are returned like any other answer.
 * @param url from `parsePublicUrl`
 * @throws NotPublicError
 */
export async function openPublic(
  network: Network,
  url: URL,
  { method, headers, body, signal }: PublicRequest,
): Promise<IncomingMessage> {
  const found = await addressesOf(network, url.hostname.replace(/^\[|\]$/g, ''), signal);
  return new Promise((resolve, reject) => {
    // Replaces the system's lookup: a changed DNS record cannot redirect the connection after the check.
    const options = { method, lookup: givenLookup(found), signal, agent: false as const, headers };
    network.request(url, options, resolve).on('error', reject).end(body);
  });
}

/** All addresses of a host; none may be private. A host without addresses is refused in the same way. */
async function addressesOf({ resolve, isAllowed }: Network, host: string, signal: AbortSignal): Promise<LookupAddress[]> {
  const family = isIP(host);
  const found =
    family !== 0
      ? [{ address: host, family }]
      : await untilEnd(
          resolve(host).catch(() => []),
          signal,
        );
  if (found.length > 0 && found.every(({ address }) => isAllowed(address))) return found;
  throw new NotPublicError('its host has no public internet address');
}

/** The system's resolver cannot be cancelled. */
function untilEnd<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason as Error);
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

const givenLookup =
  (found: LookupAddress[]): LookupFunction =>
  (_host, options, done) => {
    if (options.all === true) done(null, found);
    else done(null, found[0]?.address ?? '', found[0]?.family);
  };
