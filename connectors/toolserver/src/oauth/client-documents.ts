import { fetchPublic } from '@svc/connector-kit/fetch-public/fetch-public.ts';
import type { Network } from '@svc/connector-kit/fetch-public/public-network.ts';
import { usableBody } from './client-metadata.ts';

const limits = {
  maxBytes: 5 * 1024,
  timeoutMs: 5_000,
  maxRedirects: 0,
  accept: 'application/json',
  types: /^application\/([\w.-]+\+)?json$/,
} as const;

/**
 * Fetches the document that a client names as its id (client ID metadata document). Strangers choose the address, so it is fetched as
 * everything that strangers name: https to public addresses alone, no redirect, JSON, 5 KB, 5 s.
 */
export const createDocumentFetch =
  (network?: Network): typeof fetch =>
  async (address) => {
    const url = typeof address === 'string' ? address : address instanceof URL ? address.href : address.url;
    const body = await fetchPublic(url, { ...limits, ...(network !== undefined && { network }) });
    return new Response(new Uint8Array(usableBody(body)), { headers: { 'content-type': 'application/json' } });
  };
