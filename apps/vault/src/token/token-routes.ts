import { tiers } from '@svc/contract/trust.ts';
import { vaultNamePattern } from '@svc/contract/vault.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { bearerOf } from '@svc/service-kit/http/bearer-auth.ts';
import type { VaultContext } from '../context.ts';

const issueBody = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: { name: { type: 'string', pattern: vaultNamePattern }, tier: { enum: tiers } },
} as const;
const redeemBody = {
  type: 'object',
  required: ['token'],
  additionalProperties: false,
  properties: { token: { type: 'string', minLength: 1, maxLength: 256 } },
} as const;

/** For agents. An agent that is revoked between the two steps gets nothing. */
export function mountTokenRoutes(app: App, { agents, tokenExchange }: Pick<VaultContext, 'agents' | 'tokenExchange'>): void {
  app.post('/v1/tokens', { schema: { body: issueBody } }, async ({ body, headers }) =>
    tokenExchange.issue(await agents.authenticate(bearerOf(headers.authorization)), body.name, body.tier),
  );
  app.post('/v1/redeem', { schema: { body: redeemBody } }, async ({ body, headers }) =>
    tokenExchange.redeem(await agents.authenticate(bearerOf(headers.authorization)), body.token),
  );
}
