import { askPolicies, tiers, toolPolicies, type Identity } from '@svc/contract/trust.ts';
import { abortTurn } from './abort-turn.ts';
import { resolveIdentity } from './steps/admit.ts';
import type { PipelineParts } from './turn-deps.ts';
import type { Turn } from './turn.ts';

type Deps = Pick<PipelineParts, 'trust' | 'turnQueue' | 'batches' | 'log'>;
type Rights = Pick<Identity, 'denied' | 'trust_tier' | 'tool_policy' | 'tool_servers' | 'asks'>;

/**
 * Aborts the running turn of a sender who loses rights: its engine has tools that the sender may no longer use. Rights are checked
 * again only when trust changes, so a turn pays nothing; when they cannot be checked, the turn ends too. Returns the function
 * that ends the watch.
 */
export function watchRights(deps: Deps, turn: Turn, began: Rights): () => void {
  let isOver = false;
  const judge = async () => {
    const now = await resolveIdentity(deps, turn);
    if (!isOver && hasLost(began, now)) abortTurn(deps, turn.envelope.conversation_key);
  };
  const stop = deps.trust.onChange(() => {
    judge().catch((error: unknown) => {
      deps.log.error({ err: error, turn: turn.id }, 'the rights of a running turn could not be checked again, so it ends');
      if (!isOver) abortTurn(deps, turn.envelope.conversation_key);
    });
  });
  return () => {
    isOver = true;
    stop();
  };
}

/** A sender who has gained rights continues with those that the turn began with. */
export const hasLost = (began: Rights, now: Rights): boolean =>
  now.denied ||
  tiers.indexOf(now.trust_tier) < tiers.indexOf(began.trust_tier) ||
  toolPolicies.indexOf(now.tool_policy) < toolPolicies.indexOf(began.tool_policy) ||
  askPolicies.indexOf(now.asks) > askPolicies.indexOf(began.asks) ||
  hasLostServers(began.tool_servers, now.tool_servers);

const hasLostServers = (began: Rights['tool_servers'], now: Rights['tool_servers']): boolean =>
  now !== '*' && (began === '*' || began.some((name) => !now.includes(name)));
