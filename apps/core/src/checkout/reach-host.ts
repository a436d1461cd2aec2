import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isPublicAddress } from '@svc/service-kit/http/public-address.ts';
import type { GitSource } from './git-source.ts';

type Reached = { ok: true; addresses: string[] } | { ok: false; why: 'private' | 'unknown' };
type Lookup = (host: string) => Promise<{ address: string }[]>;

const askDns: Lookup = (host) => lookup(host, { all: true });

/** The addresses of a git server. A host with any address outside the public internet is refused, unless the operator allows it. */
export async function reachHost({ host, isAllowed }: GitSource, ask: Lookup = askDns): Promise<Reached> {
  const addresses = isIP(host) === 0 ? await ask(host).then(toTexts, () => []) : [host];
  if (addresses.length === 0) return { ok: false, why: 'unknown' };
  return isAllowed || addresses.every(isPublicAddress) ? { ok: true, addresses } : { ok: false, why: 'private' };
}

const toTexts = (found: { address: string }[]): string[] => found.slice(0, 8).map(({ address }) => address);
