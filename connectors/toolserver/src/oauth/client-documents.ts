import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import { fetchPublic } from '@svc/connector-kit/fetch-public/fetch-public.ts';
import type { Network } from '@svc/connector-kit/fetch-public/public-network.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import { usableBody } from './client-metadata.ts';
import type { KeptDocuments } from './kept-documents.ts';

const limits = {
  maxBytes: 5 * 1024,
  timeoutMs: 5_000,
  maxRedirects: 0,
  accept: 'application/json',
  types: /^application\/([\w.-]+\+)?json$/,
} as const;

/** Documents of clients that are not approved yet; anyone may name any number. */
const maxRecent = 100;

type Deps = { kept: KeptDocuments; isApproved: (clientId: string) => Promise<boolean>; network?: Network | undefined };

/**
 * Fetches the document that a client names as its id (client ID metadata document). Strangers choose the address, so it is fetched as
 * everything that strangers name: https to public addresses alone, no redirect, JSON, 5 KB, 5 s. Programs renew their tokens every hour,
 * and one whose document cannot be fetched would be told that it is unknown, and forget its tokens: for an approved client, the last valid
 * document is used instead.
 */
export function createDocumentFetch({ kept, isApproved, network }: Deps): typeof fetch {
  const recent = new Map<string, string>();

  async function fetchNow(id: string): Promise<string> {
    const bytes = await fetchPublic(id, { ...limits, ...(network !== undefined && { network }) });
    const document = usableBody(bytes).toString();
    if (!isOf(id, document)) return document;
    recent.set(id, document);
    forgetOldest(recent, maxRecent);
    if (await isApproved(id)) await kept.keep(id, document);
    return document;
  }

  async function findLast(id: string): Promise<string | undefined> {
    return (await isApproved(id)) ? ((await kept.find(id)) ?? recent.get(id)) : undefined;
  }

  return async (address) => {
    const id = typeof address === 'string' ? address : address instanceof URL ? address.href : address.url;
    const document = await fetchNow(id).catch(async (error: unknown) => {
      const last = await findLast(id);
      if (last === undefined) throw error;
      return last;
    });
    return new Response(document, { headers: { 'content-type': 'application/json' } });
  };
}

/** One of another client would be refused later. */
function isOf(id: string, document: string): boolean {
  const said = parseJsonOrNull(document);
  return isRecord(said) && said['client_id'] === id;
}
