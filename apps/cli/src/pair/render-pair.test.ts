import { describe, expect, test } from 'vitest';
import type { LinkResult, PendingIdentity } from '@svc/contract/pairing.ts';
import { plain } from '../terminal.ts';
import { renderLink, renderPending, senderName } from './render-pair.ts';

const now = 1_800_000_000_000;
const anna: PendingIdentity = {
  id: 'pending_1',
  surface: 'messenger',
  value: '12345',
  name: 'Anna K.',
  first_seen: now - 600_000,
  last_seen: now - 180_000,
  count: 2,
  code: 'ABCD-EFGH',
  code_expires_at: now + 57 * 60_000,
};
const stranger: PendingIdentity = { ...anna, value: '7', name: null, count: 1, code: null, code_expires_at: null };

describe('list of pending senders', () => {
  test('shows code, sender, times and the commands', () => {
    expect(renderPending([anna, stranger], now, plain)).toMatchInlineSnapshot(`
      "Waiting to be let in, the newest first:

        ABCD-EFGH   Anna K. (messenger 12345)   2 messages, last 3 min ago, code for 57 min
        no code     messenger 7                 1 message, last 3 min ago

      Check that a code is from the person you think of: names are what senders call themselves.
        ./svc pair CODE              lets that sender in as a new person with the role "known"
        ./svc pair CODE --as owner   is for your own other device: it gets all your rights
        Without a code: it has expired, or the channel gives none. docs/trust.md shows how to let them in."
    `);
  });

  test('reports that nobody is waiting', () => {
    expect(renderPending([], now, plain)).toContain('Nobody is waiting');
  });

  test('stays on one line for any sender name', () => {
    const name = senderName({ surface: 'email', value: `a\u001B[2J\nb\u202E${'x'.repeat(100)}`, name: 'A\nB\r\u0007' });
    expect(name).toBe(`A?B?\\x07 (email a\\x1b[2J?b?${'x'.repeat(52)}…)`);
  });
});

const done: LinkResult = {
  ok: true,
  principal: { id: 'principal_1', key: 'anna-k', display_name: 'Anna K.', is_new: true },
  identifier: { id: 'identifier_1', surface: 'messenger', value: '12345' },
  sender_name: 'Anna K.',
  role: 'known',
  trust: {
    principal_id: 'principal_1',
    principal_key: 'anna-k',
    display_name: 'Anna K.',
    trust_tier: 'KNOWN',
    tool_policy: 'read',
    tool_servers: '*',
    asks: 'never',
    bypass_moderation: false,
    denied: false,
    reason: 'granted KNOWN',
  },
};

describe('result of pairing', () => {
  test('shows who was let in, their rights, and how to undo or widen them', () => {
    expect(renderLink(done, plain)).toMatchInlineSnapshot(`
      "Let in: Anna K. (messenger 12345) is now "anna-k", with the role known.
      They may let it look things up, not change anything. Their next message is answered.

      Undo:   ./svc person unlink identifier_1
      Widen:  ./svc person grant anna-k trusted"
    `);
  });

  test('shows that a linked device has the rights of its owner', () => {
    const linked: LinkResult = {
      ...done,
      principal: { id: 'principal_0', key: 'owner', display_name: 'ada', is_new: false },
      role: null,
      trust: { ...done.trust, trust_tier: 'SACRED', tool_policy: 'full' },
    };
    expect(renderLink(linked, plain)).toMatchInlineSnapshot(`
      "Linked: Anna K. (messenger 12345) is now another identity of "owner".
      "owner" may let it do anything on this machine. Their next message is answered.

      Undo:   ./svc person unlink identifier_1"
    `);
  });

  test('reports a person who was linked and is still refused', () => {
    const trust = { ...done.trust, denied: true, reason: 'the principal is disabled', tool_policy: 'none' as const };
    expect(renderLink({ ...done, trust }, plain)).toContain('still refused: the principal is disabled');
  });
});
