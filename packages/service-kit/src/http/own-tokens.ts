import type { Secret } from '../secret.ts';

const tokens = new Map<string, Secret>();

/**
 * Stores the token that one of our processes requires, by its address; null: none. Every request of `json-client.ts` to that
 * address carries it unless the call passes another, so that no call can forget it.
 */
export function useToken(url: string, token: Secret | null): void {
  const { origin } = new URL(url);
  if (token === null) tokens.delete(origin);
  else tokens.set(origin, token);
}

/** The token for one of our processes; null if none is required. */
export const tokenFor = (url: string): Secret | null => (tokens.size === 0 ? null : (tokens.get(new URL(url).origin) ?? null));

/** The same as headers, for other clients. */
export function tokenHeaders(url: string): { authorization?: string } {
  const token = tokenFor(url);
  return token === null ? {} : { authorization: `Bearer ${token.reveal()}` };
}
