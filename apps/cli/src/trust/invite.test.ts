import { expect, test } from 'vitest';
import type { NewInvitation } from '@svc/contract/pairing.ts';
import type { Principal } from '@svc/contract/trust.ts';
import { CliError } from '../cli-error.ts';
import { inviteOwner } from '../connector/invite-owner.ts';
import { plain } from '../terminal.ts';
import { linksFor, renderInvitation, renderInvitations } from './invite.ts';
import type { InvitationRequest } from './trust-api.ts';

const made: NewInvitation = {
  ok: true,
  code: 'ABCD-EFGH-JKMN',
  invitation: {
    id: 'invitation_1',
    principal: null,
    name: 'Tom\u001b[31m',
    role: 'guest',
    surface: 'messenger',
    created_by: 'local',
    created_at: 1,
    expires_at: 600_000,
  },
};
const instances = [
  { type: 'messenger', invite_link: 'https://t.me/one?start={code}' },
  { type: 'messenger', invite_link: null },
  { type: 'chatroom', invite_link: 'https://chat.example/{code}' },
];

test('an invitation is shown with code, links of its channel, and how to revoke it', () => {
  const text = renderInvitation(made, linksFor(made, instances), plain);
  expect(text).toContain('ABCD-EFGH-JKMN lets in Tom');
  expect(text).toContain('(guest) on messenger. It works once, until ');
  expect(text).toContain('or open:\n  https://t.me/one?start=ABCD-EFGH-JKMN\n\nUndo:   ./svc person uninvite invitation_1');
  expect(text).not.toContain('\u001b');
  const anywhere = { ...made, invitation: { ...made.invitation, surface: null } };
  expect(linksFor(anywhere, instances)).toHaveLength(2);
});

test('open invitations are listed without codes', () => {
  expect(renderInvitations([made.invitation], plain)).toMatch(/^ {2}invitation_1 {2}Tom.* on messenger, until .*, by local$/);
  expect(renderInvitations([], plain)).toContain('./svc person invite KEY');
});

const owner = { key: 'owner', status: 'active', identifiers: [{ surface: 'shell' }] } as Principal;
const known = { key: 'anna', status: 'active', identifiers: [{ surface: 'messenger' }] } as Principal;
const link = { type: 'messenger', invite_link: 'https://t.me/one?start={code}' };

function trust(...principals: Principal[]) {
  const asked: InvitationRequest[] = [];
  return {
    asked,
    principals: async () => ({ principals }),
    invite: async (request: InvitationRequest) => (asked.push(request), made),
  };
}

test('the owner gets an invitation link that works on the new channel only', async () => {
  const api = trust(owner);
  expect(await inviteOwner(api, link)).toContain('\n  https://t.me/one?start=ABCD-EFGH-JKMN');
  expect(api.asked).toEqual([{ as: 'owner', surface: 'messenger' }]);
});

test.each([
  ['a person is known there', [owner, known], link],
  ['the channel has no links', [owner], { ...link, invite_link: null }],
  ['there is no owner', [{ ...owner, key: 'boss' }], link],
  ['the owner is disabled', [{ ...owner, status: 'disabled' as const }], link],
])('no invitation is made when %s', async (_why, principals, instance) => {
  const api = trust(...principals);
  expect(await inviteOwner(api, instance)).toBeNull();
  expect(api.asked).toEqual([]);
});

test('a rejected invitation is reported without failing', async () => {
  const api = { ...trust(owner), invite: () => Promise.reject(new CliError('nothing was changed.', { why: 'There are 100.' })) };
  expect(await inviteOwner(api, link)).toContain('There are 100.');
});
