import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';

/** What this server goes by, of all that clients say of themselves. A document with a secret is the library's to refuse. */
const used = [
  'client_id',
  'client_name',
  'client_secret',
  'client_secret_expires_at',
  'redirect_uris',
  'token_endpoint_auth_method',
] as const;
/** What is served of that which clients list, and what of it a client must want. */
const served = {
  grant_types: { wanted: 'authorization_code', all: ['authorization_code', 'refresh_token'] },
  response_types: { wanted: 'code', all: ['code'] },
} as const;

/**
 * A body of what a client says of itself, without that which has no effect here. Clients list all that they can do, and the authorization server's library
 * refuses a client for a single value that it does not serve: a scope, a way to get a token, an empty address of a logo. RFC 7591 lets a server leave them out.
 * A body that is no JSON object stays, for its refusal.
 */
export function usableBody(body: Buffer): Buffer {
  const said = parseJsonOrNull(body.toString());
  return isRecord(said) ? Buffer.from(JSON.stringify(usableMetadata(said))) : body;
}

function usableMetadata(said: Record<string, unknown>): Record<string, unknown> {
  const kept = used.filter((name) => said[name] !== undefined && said[name] !== null && said[name] !== '');
  const lists = Object.entries(served).filter(([name]) => said[name] !== undefined && said[name] !== null);
  return Object.fromEntries([
    ...kept.map((name) => [name, said[name]] as const),
    ...lists.map(([name, { wanted, all }]) => [name, servedOf(said[name], wanted, all)] as const),
  ]);
}

/** A list of nothing that is served is left as it is, so that its refusal says what was wrong. */
function servedOf(list: unknown, wanted: string, all: readonly string[]): unknown {
  if (!Array.isArray(list) || !list.includes(wanted)) return list;
  return all.filter((each) => list.includes(each));
}
