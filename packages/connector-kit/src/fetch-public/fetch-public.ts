import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { internet, NotPublicError, openPublic, parsePublicUrl, type Network } from './public-network.ts';

export type PublicFetchOptions = {
  /** Maximum file size, bytes. */
  maxBytes: number;
  /** Timeout for the whole fetch, including all redirects, ms. */
  timeoutMs: number;
  /** Maximum number of redirects. Default: 3. */
  maxRedirects?: number;
  /** The `accept` header. Default: any file, preferably an image. */
  accept?: string;
  /** Accepted media types, in lower case, without parameters. Default: any. */
  types?: RegExp;
  signal?: AbortSignal;
  /** Replaces the network in tests. */
  network?: Network;
};

const usualRedirects = 3;
const anyFile = 'image/*, */*;q=0.5';
const redirects = new Set([301, 302, 303, 307, 308]);

/**
 * Fetches a file for a stranger, who must not reach this machine's network through it: only `https`, only hosts whose addresses are all
 * public, each connection to the very address that was checked, and the same for every redirect. Sends no cookies and no keys, and
 * decompresses nothing.
 * @throws ServiceError `unprocessable` with a message for the caller, the same for every host that is not public; `too_large`.
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
    if (error instanceof NotPublicError) throw refused(error.message, error);
    if (deadline.aborted) throw refused(`it did not arrive within ${Math.round(timeoutMs / 1000)} s`, error);
    throw refused('its host could not be reached or closed the connection', error);
  }
}

async function follow(address: string, options: PublicFetchOptions, signal: AbortSignal): Promise<IncomingMessage> {
  const { network = internet, maxRedirects = usualRedirects, accept = anyFile } = options;
  const headers = { accept, 'accept-encoding': 'identity', 'user-agent': 'svc' };
  let url = parsePublicUrl(address);
  for (let hops = 0; hops <= maxRedirects; hops++) {
    const response = await openPublic(network, url, { method: 'GET', headers, signal });
    const status = response.statusCode ?? 0;
    if (status === 200) return response;
    response.destroy();
    const { location } = response.headers;
    if (!redirects.has(status) || location === undefined) throw refused(`its host answered ${status}`);
    url = parsePublicUrl(location, url);
  }
  throw refused(`it redirects more than ${maxRedirects} times`);
}

type BodyLimits = Pick<PublicFetchOptions, 'maxBytes' | 'types'>;

async function readBody(response: IncomingMessage, { maxBytes, types }: BodyLimits): Promise<Buffer> {
  const [type = ''] = (response.headers['content-type'] ?? '').split(';');
  if (types?.test(type.trim().toLowerCase()) === false) return end(response, refused('it has the wrong type'));
  const encoding = response.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') return end(response, refused('its host sends it compressed, which is not supported'));
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
  new ServiceError('unprocessable', `The file could not be fetched: ${why}.`, { cause });
const tooLarge = (maxBytes: number) =>
  new ServiceError('too_large', `The file could not be fetched: it is larger than ${sizeOf(maxBytes)}.`);

const sizeOf = (bytes: number): string => (bytes < mib ? `${Math.ceil(bytes / 1024)} KiB` : `${Math.floor(bytes / mib)} MiB`);
const mib = 1024 * 1024;
