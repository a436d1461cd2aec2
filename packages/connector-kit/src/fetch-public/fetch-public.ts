import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { ClientRequest, IncomingMessage } from '@svc/service-kit/builtin.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { isPublicAddress } from '@svc/service-kit/http/public-address.ts';

export type PublicFetchOptions = {
  /** Most bytes of the file. */
  maxBytes: number;
  /** Until the last byte, over all redirects, ms. */
  timeoutMs: number;
  /** How often its host may send on to another address; 3 times unless given. */
  maxRedirects?: number;
  /** The `accept` header; any file, pictures first, unless given. */
  accept?: string;
  /** The media types that it may have, small, without parameters; any unless given. */
  types?: RegExp;
  signal?: AbortSignal;
  /** Of the network, for tests. */
  network?: Network;
};

/** How addresses are found and opened. */
export type Network = {
  isAllowed(address: string): boolean;
  resolve(host: string): Promise<LookupAddress[]>;
  request(url: URL, options: RequestOptions, onResponse: (response: IncomingMessage) => void): ClientRequest;
};
type RequestOptions = { lookup: LookupFunction; signal: AbortSignal; agent: false; headers: Record<string, string> };

const usualRedirects = 3;
const anyFile = 'image/*, */*;q=0.5';
const maxUrlChars = 8_192;
const redirects = new Set([301, 302, 303, 307, 308]);

const internet: Network = {
  isAllowed: isPublicAddress,
  resolve: (host) => process.getBuiltinModule('node:dns/promises').lookup(host, { all: true }),
  // Not imported: a connector that fetches nothing does not load it.
  request: (url, options, onResponse) => process.getBuiltinModule('node:https').request(url, options, onResponse),
};

/**
 * Fetches a file for a stranger, who must not look into this machine's network by it: `https` alone, hosts all of whose addresses are
 * on the public internet, each connection to the very address that was checked, and the same for every redirect. No
 * cookies, no keys, nothing is decompressed.
 * @throws ServiceError `unprocessable` with words for the caller, the same for every host that is not public; `too_large`.
 */
export async function fetchPublic(address: string, options: PublicFetchOptions): Promise<Buffer> {
  const { timeoutMs, signal } = options;
  const deadline = AbortSignal.timeout(timeoutMs);
  const end = signal === undefined ? deadline : AbortSignal.any([deadline, signal]);
  try {
    const response = await follow(address, options, end);
    return await readBody(response, options);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    if (deadline.aborted) throw refused(`it was not there within ${Math.round(timeoutMs / 1000)} s`, error);
    throw refused('its host could not be reached, or broke off', error);
  }
}

async function follow(address: string, options: PublicFetchOptions, signal: AbortSignal): Promise<IncomingMessage> {
  const { network = internet, maxRedirects = usualRedirects, accept = anyFile } = options;
  let url = parseUrl(address);
  for (let hops = 0; hops <= maxRedirects; hops++) {
    const response = await open(network, url, accept, signal);
    const status = response.statusCode ?? 0;
    if (status === 200) return response;
    response.destroy();
    const { location } = response.headers;
    if (!redirects.has(status) || location === undefined) throw refused(`its host answered ${status}`);
    url = parseUrl(location, url);
  }
  throw refused(`it is moved more than ${maxRedirects} times`);
}

function parseUrl(address: string, base?: URL): URL {
  const url = address.length > maxUrlChars || !URL.canParse(address, base?.href) ? null : new URL(address, base?.href);
  if (url === null || url.protocol !== 'https:') throw refused('only addresses that begin with https:// are fetched');
  if (url.username !== '' || url.password !== '') throw refused('an address with a name or password is not fetched');
  return url;
}

async function open(network: Network, url: URL, accept: string, signal: AbortSignal): Promise<IncomingMessage> {
  const found = await addressesOf(network, url.hostname.replace(/^\[|\]$/g, ''), signal);
  return new Promise((resolve, reject) => {
    const options = {
      // Asked in place of the system: a name that leads elsewhere by now leads there for nobody.
      lookup: givenLookup(found),
      signal,
      agent: false as const,
      headers: { accept, 'accept-encoding': 'identity', 'user-agent': 'svc' },
    };
    network.request(url, options, resolve).on('error', reject).end();
  });
}

/** All addresses of a host; none of them may be in a private network. A host that has none is no other case. */
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
  throw refused('its host has no address on the public internet');
}

/** The system's resolver cannot be told to stop. */
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

type BodyLimits = Pick<PublicFetchOptions, 'maxBytes' | 'types'>;

async function readBody(response: IncomingMessage, { maxBytes, types }: BodyLimits): Promise<Buffer> {
  const [type = ''] = (response.headers['content-type'] ?? '').split(';');
  if (types?.test(type.trim().toLowerCase()) === false) return end(response, refused('it is of another type'));
  const encoding = response.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') return end(response, refused('its host sends it compressed'));
  if (Number(response.headers['content-length'] ?? 0) > maxBytes) return end(response, tooLarge(maxBytes));
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > maxBytes) return end(response, tooLarge(maxBytes));
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function end(response: IncomingMessage, fault: ServiceError): never {
  response.destroy();
  throw fault;
}

const refused = (why: string, cause?: unknown) =>
  new ServiceError('unprocessable', `The file was not fetched: ${why}.`, { cause });
const tooLarge = (maxBytes: number) =>
  new ServiceError('too_large', `The file was not fetched: it is larger than ${Math.floor(maxBytes / 1024 / 1024)} MiB.`);
