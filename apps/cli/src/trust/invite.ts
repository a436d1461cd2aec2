import { inviteLinkOf } from '@svc/contract/invitation.ts';
import type { Instance } from '@svc/contract/instance.ts';
import type { Invitation, NewInvitation } from '@svc/contract/pairing.ts';
import { visibleLine, type Style } from '../terminal.ts';
import { moment } from './render-trust.ts';

/** Links that use a code, one for each instance that supports them. */
export function linksFor(
  { code, invitation }: NewInvitation,
  instances: readonly Pick<Instance, 'type' | 'invite_link'>[],
): string[] {
  const fitting = instances.filter(({ type }) => invitation.surface === null || invitation.surface === type);
  return fitting.flatMap(({ invite_link: link }) => (typeof link === 'string' ? [inviteLinkOf(link, code)] : []));
}

/** A new code, and how to use it. */
export function renderInvitation(made: NewInvitation, links: readonly string[], style: Style): string {
  const { code, invitation } = made;
  return [
    `${style.green(code)} lets in ${whom(invitation)}. It works once, until ${moment(invitation.expires_at)}.`,
    `They send it to the assistant in a private chat${links.length === 0 ? '.' : ', or open:'}`,
    ...links.map((link) => `  ${visibleLine(link)}`),
    '',
    `Undo:   ./svc person uninvite ${invitation.id}`,
  ].join('\n');
}

/** Unused codes, for a person. */
export function renderInvitations(invitations: readonly Invitation[], style: Style): string {
  if (invitations.length === 0) return 'No invitation is open. Make one: ./svc person invite KEY';
  return invitations
    .map(
      (each) =>
        `  ${each.id}  ${whom(each)}, ${style.dim(`until ${moment(each.expires_at)}, by ${visibleLine(each.created_by)}`)}`,
    )
    .join('\n');
}

function whom({ principal, name, role, surface }: Invitation): string {
  const who = principal === null ? `${name === null ? 'a new person' : visibleLine(name)} (${role ?? ''})` : `"${principal}"`;
  return surface === null ? who : `${who} on ${surface}`;
}
