import type { Identity } from '@svc/contract/trust.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { observedId } from '../origin.ts';
import { toResult } from '../to-result.ts';
import type { TurnDeps } from '../turn-deps.ts';
import { isByOperator, type Turn } from '../turn.ts';

type Deps = Pick<TurnDeps, 'trust' | 'pending' | 'events' | 'observed'>;

/** Who speaks; or how the turn ends because they may not, or because their message is only observed. */
export type Admission = { identity: Identity } | { ended: HandleResult };

/** Called when a message arrives, and again when its turn is due: trust may have changed while it waited. */
export async function admit(deps: Deps, turn: Turn, isOnlySeen: boolean): Promise<Admission> {
  const identity = await resolveIdentity(deps, turn);
  if (identity.denied) return { ended: deny(deps, turn, identity) };
  if (isOnlySeen) return { ended: await observe(deps, turn, identity) };
  return { identity };
}

/**
 * Answers a sender without access: only on private surfaces where an answer is expected, with a pairing code where the
 * instance gives them. `why`: an additional sentence. No engine is called, and the message is not stored.
 */
export function deny(
  { events, pending }: Pick<TurnDeps, 'events' | 'pending'>,
  turn: Turn,
  identity: Identity,
  why: string | null = null,
): HandleResult {
  const { envelope } = turn;
  events.denied(turn, identity);
  const invitation = pending.note(envelope, identity);
  const isTold = envelope.public !== true && envelope.delivery !== 'async';
  return toResult(turn, 'denied', isTold ? ['no access', why, invitation].filter((line) => line !== null).join('\n') : '');
}

/** A message that is only observed: kept as context for the conversation's next turn. */
async function observe(
  { events, observed }: Pick<TurnDeps, 'events' | 'observed'>,
  turn: Turn,
  identity: Identity,
): Promise<HandleResult> {
  const { content, conversation_key, message_id } = turn.envelope;
  const isNew = await observed.add(conversation_key, {
    sender: identity.display_name,
    tier: identity.trust_tier,
    text: content.text,
    attachments: content.attachments,
    message_id: message_id === undefined ? undefined : observedId(turn.envelope, message_id),
  });
  if (isNew) await events.inbound(turn, identity, 'observed');
  return toResult(turn, 'observed', '');
}

/**
 * Who is speaking, and what that allows here and now. Every caller is denied until the trust store says otherwise.
 * An operator's text runs with no more rights than the person whose session it is.
 */
export async function resolveIdentity({ trust }: Pick<TurnDeps, 'trust'>, turn: Turn): Promise<Identity> {
  const { steering, envelope } = turn;
  if (steering === undefined || !isByOperator(turn)) return trust.resolve(envelope);
  const owner = await trust.resolvePrincipal(steering.principalId, envelope);
  return owner.denied ? { ...owner, denied: false, trust_tier: 'GUEST', tool_policy: 'none' } : owner;
}
