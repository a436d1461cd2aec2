import type { Envelope } from '@svc/contract/envelope.ts';
import { invitationIn } from '@svc/contract/invitation.ts';
import { anonymousSender, type Identity } from '@svc/contract/trust.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { counted } from '@svc/service-kit/words.ts';
import { toIdentifierValue } from '../../trust/identifier-value.ts';
import { toName } from '../../trust/shown-name.ts';
import type { Redeemed } from '../../trust/redeem-invitation.ts';
import { toResult } from '../to-result.ts';
import type { TurnDeps } from '../turn-deps.ts';
import type { Turn } from '../turn.ts';
import { deny, resolveIdentity } from './admit.ts';

type Deps = Pick<TurnDeps, 'trust' | 'pending' | 'events' | 'redeemInvitation'>;

/**
 * The invitation code that a message consists of, if only its sender can read the answer, and the sender is a single person: an
 * anonymous sender would let in all anonymous ones. Null for all others.
 */
export function invitationOf(envelope: Envelope): string | null {
  const code = invitationIn(envelope.content.text);
  const { raw_id: id, is_bot: isBot } = envelope.sender;
  if (code === null || isBot === true || id === anonymousSender || !id.isWellFormed()) return null;
  const isPrivate = envelope.public !== true && envelope.mentioned === undefined && envelope.delivery !== 'async';
  return isPrivate ? code : null;
}

/**
 * Lets in a sender with an invitation code. Null when the message is handled as usual: text of a known person may look like a code.
 * A sender who is denied for any reason other than being unknown stays denied.
 */
export async function takeInvitation(deps: Deps, turn: Turn, code: string): Promise<HandleResult | null> {
  const { envelope } = turn;
  const identity = await resolveIdentity(deps, turn);
  if (identity.denied && identity.denial !== 'unknown_sender') return null;
  const { channel: surface, sender } = envelope;
  const guest = { surface, value: toIdentifierValue(surface, sender.raw_id), name: toName(sender.raw_username) };
  const redeemed = await deps.redeemInvitation(guest, code);
  if (redeemed.type === 'joined') return welcome(deps, turn);
  if (redeemed.type === 'known') return toResult(turn, 'command', alreadyIn(identity));
  return identity.denied ? deny(deps, turn, identity, whyNot(redeemed)) : null;
}

/** The trust store decides what they may do now. */
async function welcome(deps: Deps, turn: Turn): Promise<HandleResult> {
  const { denied, display_name } = await resolveIdentity(deps, turn);
  const text = denied
    ? 'You are known here now, but may not talk yet. Ask the person who invited you.'
    : `Welcome, ${display_name}. You can write to the assistant now.`;
  return toResult(turn, 'command', text);
}

const alreadyIn = ({ display_name }: Identity): string =>
  `You have access already, as ${display_name}. The invitation was not used, and still works for another person.`;

function whyNot(redeemed: Exclude<Redeemed, { type: 'joined' | 'known' }>): string {
  switch (redeemed.type) {
    case 'busy':
      return `There were too many wrong codes. Try again in ${counted(Math.ceil(redeemed.waitMs / 60_000), 'minute')}.`;
    case 'unfit':
      return 'Your name on this channel cannot be told apart from another one, so the invitation does not work for it.';
    case 'wrong':
      return 'This invitation does not work: it has ended, was used, was revoked, or is for another channel. Ask for a new one.';
  }
}
