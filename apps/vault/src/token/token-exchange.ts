import { tiers, type Tier } from '@svc/contract/trust.ts';
import type { VaultAgent, VaultToken, VaultValue } from '@svc/contract/vault.ts';
import { forbidden } from '@svc/service-kit/service-error.ts';
import type { AccessLog } from '../access/access-log.ts';
import type { Credentials } from '../credential/credentials.ts';
import type { ProxyTokens } from './proxy-tokens.ts';

type Deps = { credentials: Credentials; proxyTokens: ProxyTokens; accessLog: AccessLog };

/** The two steps in which an agent gets a secret: a token for it, and the value for the token. */
export function createTokenExchange({ credentials, proxyTokens, accessLog }: Deps) {
  return {
    /** `tier` is whom the agent asks for, if that is somebody of less trust than itself. */
    issue: (agent: VaultAgent, name: string, tier: Tier = agent.tier): Promise<VaultToken> =>
      accessLog.during({ actor: agent.name, action: 'issue-token', target: name }, async (tx) => {
        const lower = tiers[Math.min(tiers.indexOf(tier), tiers.indexOf(agent.tier))] ?? agent.tier;
        await credentials.permitted(tx, name, lower);
        return { ok: true, name, ...proxyTokens.issue({ agentId: agent.id, name, tier: lower }) };
      }),

    /** @throws ServiceError `forbidden` for a token that is not, or no more, good for this agent. */
    redeem(agent: VaultAgent, token: string): Promise<VaultValue> {
      const grant = proxyTokens.take(token);
      return accessLog.during({ actor: agent.name, action: 'redeem', target: grant?.name ?? null }, async (tx) => {
        if (grant === null || grant.agentId !== agent.id) {
          throw forbidden('This token is not good: it was used, is too old, or is not yours. Ask for another one.');
        }
        // Looked up again: what it takes may have been raised since.
        const row = await credentials.permitted(tx, grant.name, grant.tier);
        return { ok: true, name: row.name, version: row.version, value: await credentials.valueOf(tx, row) };
      });
    },
  };
}

export type TokenExchange = ReturnType<typeof createTokenExchange>;
