import type { Secret } from '../secret.ts';

const tokens = new Map<string, Secret>();

/**
 * Notes the token that a process of ours wants, by its address; null: it wants none. Every request of `json-client.ts` to that
 * address carries it unless the call names another, so that no call can forget it.
 */
export function useToken(url: string, token: Secret | null): void {
  const { origin } = new URL(url);
  if (token === null) tokens.delete(origin);
  else tokens.set(origin, token);
}

/** The token for a process of ours; null where none is wanted. */
export const tokenFor = (url: string): Secret | null => (tokens.size === 0 ? null : (tokens.get(new URL(url).origin) ?? null));

/** The same as headers, for a client that writes its own. */
export function tokenHeaders(url: string): { authorization?: string } {
  const token = tokenFor(url);
  return token === null ? {} : { authorization: `Bearer ${token.reveal()}` };
}
