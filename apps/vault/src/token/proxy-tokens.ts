import type { Tier } from '@svc/contract/trust.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { queueFull } from '@svc/service-kit/service-error.ts';
import { hashAccessKey, newAccessKey } from '../crypto/access-key.ts';

/** What a token is good for. */
export type Grant = { agentId: string; name: string; tier: Tier; /** By the clock that only goes forward. */ endsAt: number };

export const tokenLifeMs = 30_000;
const mostOfAgent = 1000;

/**
 * Tokens that give out one secret, once. They live in memory alone, so none outlives the process or a seal, and taking one
 * is a single step: of many who redeem it at once, one gets it.
 */
export type ProxyTokens = {
  /** @throws ServiceError `queue_full` for an agent that has too many. */
  issue(grant: Omit<Grant, 'endsAt'>): { token: string; expires_at: number };
  /** What it was good for; null when it is unknown, was taken before or is too old. It is gone afterwards in any case. */
  take(token: string): Grant | null;
  clear(): void;
};

export function createProxyTokens(clock: Clock): ProxyTokens {
  const grants = new Map<string, Grant>();
  const idOf = (token: string) => hashAccessKey(token).toString('base64');

  // In the order they were made, which is the order they expire in.
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
      if (open >= mostOfAgent) throw queueFull(`This agent has ${mostOfAgent} tokens that it has not redeemed.`);
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
