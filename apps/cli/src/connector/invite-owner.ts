import { inviteLinkOf } from '@svc/contract/invitation.ts';
import type { Instance } from '@svc/contract/instance.ts';
import { CliError } from '../cli-error.ts';
import type { TrustApi } from '../trust/trust-api.ts';

const owner = 'owner';

/**
 * The owner's first step on a new channel: a link that gives them access, when no person is known there yet. Null for a
 * channel without links, and for an owner who is known already.
 */
export async function inviteOwner(
  trust: Pick<TrustApi, 'principals' | 'invite'>,
  { type, invite_link: template }: Pick<Instance, 'type' | 'invite_link'>,
): Promise<string | null> {
  if (typeof template !== 'string') return null;
  try {
    const { principals } = await trust.principals();
    const isKnown = principals.some(({ identifiers }) => identifiers.some(({ surface }) => surface === type));
    if (isKnown || !principals.some(({ key, status }) => key === owner && status === 'active')) return null;
    const { code } = await trust.invite({ as: owner, surface: type });
    return `To let yourself in as the owner, open this within 10 minutes:\n  ${inviteLinkOf(template, code)}`;
  } catch (error) {
    // The channel is added; only the short way in is missing.
    if (error instanceof CliError) return `No link could be made to let yourself in: ${error.why ?? error.message}`;
    throw error;
  }
}
