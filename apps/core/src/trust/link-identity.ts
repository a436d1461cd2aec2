import type { LinkResult } from '@svc/contract/pairing.ts';
import { conflict, notFound } from '@svc/service-kit/service-error.ts';
import { giveIdentifier } from './give-identifier.ts';
import type { GrantPlace, TrustStore } from './trust-store.ts';

/** Whom an identifier is linked to: an existing principal, or a new one. Without `key`, the new one is named after the sender. */
export type LinkTarget =
  | { type: 'id'; id: string }
  | { type: 'key'; key: string }
  | ({ type: 'new'; key: string | null; display_name: string | null; role: string } & GrantPlace);

type Sender = { surface: string; value: string; name: string | null };
export type Linked = Pick<LinkResult, 'principal' | 'identifier' | 'sender_name' | 'role'>;

/**
 * Gives the identifier of a pending sender to a principal. Called inside a transaction.
 * @throws ServiceError `not_found` for a principal or role that does not exist, `bad_request` for a sender whose name could
 *   be mistaken for another, `conflict` when another principal has the identifier or the key.
 */
export async function linkIdentity(store: TrustStore, { surface, value, name }: Sender, target: LinkTarget): Promise<Linked> {
  const principal =
    target.type === 'new' ? await makePrincipal(store, target, name ?? value) : await existingPrincipal(store, target);
  const { id } = await giveIdentifier(store, { principal_id: principal.id, surface, value });
  return {
    principal,
    identifier: { id, surface, value },
    sender_name: name,
    role: target.type === 'new' ? target.role : null,
  };
}

async function existingPrincipal(store: TrustStore, target: Exclude<LinkTarget, { type: 'new' }>): Promise<Linked['principal']> {
  const id = target.type === 'id' ? target.id : await store.findPrincipalId(target.key);
  const principal = id === null ? null : await store.findPrincipal(id);
  if (principal === null) throw notFound('person', target.type === 'id' ? target.id : target.key);
  return { id: principal.principal_id, key: principal.key, display_name: principal.display_name, is_new: false };
}

async function makePrincipal(
  store: TrustStore,
  { key: wanted, display_name, role, ...place }: Extract<LinkTarget, { type: 'new' }>,
  senderName: string,
): Promise<Linked['principal']> {
  const name = display_name ?? senderName;
  if (!(await store.hasRole(role))) throw notFound('role', role);
  const taken = wanted === null ? null : await store.findLikeKey(wanted);
  if (taken !== null) throw conflict(`There is a person "${taken}" already. Link to it, or choose another key.`);
  const key = wanted ?? (await freeKey(store, toKey(name)));
  const id = await store.addPrincipal({ key, display_name: name });
  await store.addGrant(id, role, place);
  return { id, key, display_name: name, is_new: true };
}

/** `anna`, else `anna-2` and so on: a sender's name must never make them an existing principal. */
async function freeKey(store: TrustStore, base: string): Promise<string> {
  let key = base;
  for (let n = 2; (await store.findLikeKey(key)) !== null; n++) key = `${base}-${n}`;
  return key;
}

/** A name as a key: `Zoë K.` is `zoe-k`. */
function toKey(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replaceAll(/^-+|-+$/g, '');
  return plain === '' ? 'guest' : plain;
}
