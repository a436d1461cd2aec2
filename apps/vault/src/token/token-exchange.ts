import { tiers, type Tier } from '@svc/contract/trust.ts';
import type { VaultAgent, VaultToken, VaultValue } from '@svc/contract/vault.ts';
import { forbidden } from '@svc/service-kit/service-error.ts';
import type { AccessLog } from '../access/access-log.ts';
import type { Credentials } from '../credential/credentials.ts';
import type { ProxyTokens } from './proxy-tokens.ts';

type Deps = { credentials: Credentials; proxyTokens: ProxyTokens; accessLog: AccessLog };

/** The two steps in which an agent gets a secret: a token for it, and the value for the token. */
export type TokenExchange = {
  /** `tier` is the trust of the person for whom the agent asks, if lower than its own. @throws ServiceError `not_found`, `forbidden`. */
  issue(agent: VaultAgent, name: string, tier?: Tier): Promise<VaultToken>;
  /** @throws ServiceError `forbidden` for a token that is invalid, has expired, or belongs to another agent. */
  redeem(agent: VaultAgent, token: string): Promise<VaultValue>;
};

export function createTokenExchange({ credentials, proxyTokens, accessLog }: Deps): TokenExchange {
  return {
    issue: (agent, name, tier = agent.tier) =>
      accessLog.during({ actor: agent.name, action: 'issue-token', target: name }, async (tx) => {
        const lower = tiers[Math.min(tiers.indexOf(tier), tiers.indexOf(agent.tier))] ?? agent.tier;
        await credentials.permitted(tx, name, lower);
        return { ok: true, name, ...proxyTokens.issue({ agentId: agent.id, name, tier: lower }) };
      }),

    redeem(agent, token) {
      const grant = proxyTokens.take(token);
      return accessLog.during({ actor: agent.name, action: 'redeem', target: grant?.name ?? null }, async (tx) => {
        if (grant === null || grant.agentId !== agent.id) {
          throw forbidden('This token is invalid: it was used, has expired, or belongs to another agent. Request a new one.');
        }
        // Looked up again: the required trust may have been raised since.
        const row = await credentials.permitted(tx, grant.name, grant.tier);
        return { ok: true, name: row.name, version: row.version, value: await credentials.valueOf(tx, row) };
      });
    },
  };
}
