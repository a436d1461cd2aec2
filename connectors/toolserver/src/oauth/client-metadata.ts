import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';

/** The metadata of clients that this server uses. The library refuses a document that contains a secret. */
const used = [
  'client_id',
  'client_name',
  'client_secret',
  'client_secret_expires_at',
  'redirect_uris',
  'token_endpoint_auth_method',
] as const;
/** The supported values of a client's lists, and the one that it must contain. */
const served = {
  grant_types: { wanted: 'authorization_code', all: ['authorization_code', 'refresh_token'] },
  response_types: { wanted: 'code', all: ['code'] },
} as const;

/**
 * Client metadata without the values that have no effect here. Clients list everything they support, and the library of the authorization server refuses
 * a client for a single unsupported value: a scope, a grant type, an empty logo address. RFC 7591 allows a server to leave them out. A body that is not
 * a JSON object is returned unchanged, so that it is refused.
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

/** A list without the required value is left unchanged, so that its refusal says what is wrong. */
function servedOf(list: unknown, wanted: string, all: readonly string[]): unknown {
  if (!Array.isArray(list) || !list.includes(wanted)) return list;
  return all.filter((each) => list.includes(each));
}
