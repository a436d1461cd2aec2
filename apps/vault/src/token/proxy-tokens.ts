import type { Tier } from '@svc/contract/trust.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { queueFull } from '@svc/service-kit/service-error.ts';
import { hashAccessKey, newAccessKey } from '../crypto/access-key.ts';

/** The secret that a token gives access to, and to whom. */
export type Grant = { agentId: string; name: string; tier: Tier; /** By the clock that only goes forward. */ endsAt: number };

export const tokenLifeMs = 30_000;
const mostOfAgent = 1000;

/**
 * Tokens that give out one secret, once. They exist only in memory, so none outlives the process or a seal. Taking one is
 * a single step, so of several concurrent requests only one gets it.
 */
export type ProxyTokens = {
  /** @throws ServiceError `queue_full` for an agent that has too many. */
  issue(grant: Omit<Grant, 'endsAt'>): { token: string; expires_at: number };
  /** The grant of a token; null if it is unknown, was taken before or has expired. The token is invalid afterwards in any case. */
  take(token: string): Grant | null;
  clear(): void;
};

export function createProxyTokens(clock: Clock): ProxyTokens {
  const grants = new Map<string, Grant>();
  const idOf = (token: string) => hashAccessKey(token).toString('base64');

  // Grants are in the order of their creation, which is also the order in which they expire.
  const dropExpired = () => {
    for (const [id, { endsAt }] of grants) {
      if (endsAt > clock.elapsed()) return;
      grants.delete(id);
    }
  };

  return {
    issue(grant) {
      dropExpired();
      let open = 0;
      for (const { agentId } of grants.values()) if (agentId === grant.agentId) open++;
      if (open >= mostOfAgent)
        throw queueFull(`This agent has ${mostOfAgent} unredeemed tokens. Redeem them, or wait until they expire.`);
      const token = newAccessKey('vtoken');
      grants.set(idOf(token), { ...grant, endsAt: clock.elapsed() + tokenLifeMs });
      return { token, expires_at: clock.now() + tokenLifeMs };
    },

    take(token) {
      const id = idOf(token);
      const grant = grants.get(id);
      grants.delete(id);
      return grant === undefined || grant.endsAt <= clock.elapsed() ? null : grant;
    },

    clear: () => grants.clear(),
  };
}
