import { localActor } from '@svc/contract/trust.ts';
import type { TrustService } from '../trust/trust-service.ts';

/**
 * Whether an actor of the routes may act with the operator's logins and full rights: the user of this machine, and people with the tier
 * SACRED.
 */
export async function isOperator(trust: Pick<TrustService, 'resolve'>, actor: string): Promise<boolean> {
  if (actor === localActor) return true;
  const { trust_tier: tier, denied } = await trust.resolve({ channel: 'web', conversation_key: '', sender: { raw_id: actor } });
  return !denied && tier === 'SACRED';
}
