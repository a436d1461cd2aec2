import type { Identity } from '@svc/contract/trust.ts';
import { fromParts } from './amend/changed-turn.ts';
import { observedId, rightsOfAnyone } from './origin.ts';
import { resolveIdentity } from './steps/admit.ts';
import type { TurnDeps } from './turn-deps.ts';
import type { MergedMessage, Turn } from './turn.ts';

type Deps = Pick<TurnDeps, 'trust' | 'spend' | 'observed'>;
/** A message of the turn, with its sender's present rights. */
type Judged = { part: MergedMessage; identity: Identity };

/**
 * The messages of a room that are answered as one came from people with the same rights, which may have changed while the turn waited.
 * Only those of people who still have the rights of the last one who gets an answer stay in the turn: no words run with the rights or
 * on the account of another person. The others become observed context, or are left out where their sender is denied.
 */
export async function withPresentRights(deps: Deps, turn: Turn): Promise<Turn> {
  const { parts, together } = turn;
  if (parts === undefined || together === undefined) return turn;
  const judged = await Promise.all(parts.map((part) => judge(deps, turn, part)));
  const answered = judged.findLast((each) => isAnswered(deps, each));
  if (answered === undefined) return turn; // it is refused as a whole
  const rights = rightsOfAnyone(answered.identity);
  const stays = (each: Judged) => isAnswered(deps, each) && rightsOfAnyone(each.identity) === rights;
  if (judged.every(stays)) return turn;
  for (const each of judged) if (!stays(each) && !each.identity.denied) await observe(deps, each);
  return fromParts(
    turn,
    judged.filter(stays).map(({ part }) => part),
  );
}

const judge = async (deps: Deps, turn: Turn, part: MergedMessage): Promise<Judged> => ({
  part,
  identity: await resolveIdentity(deps, { ...turn, envelope: part.envelope }),
});

const isAnswered = ({ spend }: Deps, { part, identity }: Judged): boolean =>
  !identity.denied && spend.mayPay(identity, part.envelope);

/** A turn that is run again does not store it twice. */
async function observe({ observed }: Deps, { part: { envelope }, identity }: Judged): Promise<void> {
  const { conversation_key, content, message_id } = envelope;
  await observed.add(conversation_key, {
    sender: identity.display_name,
    tier: identity.trust_tier,
    text: content.text,
    attachments: content.attachments,
    message_id: message_id === undefined ? undefined : observedId(envelope, message_id),
  });
}
