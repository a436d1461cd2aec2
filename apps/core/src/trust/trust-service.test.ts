import { expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createTrustService } from './trust-service.ts';
import type { KnownSender, TrustStore } from './trust-store.ts';

const anna: KnownSender = {
  principal_id: 'principal_1',
  key: 'anna',
  display_name: 'Anna',
  active: true,
  bypass_moderation: false,
  grants: [
    { tier: 'KNOWN', tool_policy: 'read', surfaces: '*', scope_surface: null, scope_conversation_key: null, expires_at: null },
  ],
};
const envelope = { channel: 'compat', conversation_key: 'k', sender: { raw_id: 'anna' } };

/** A store whose next answer a test gives when it likes. */
function open() {
  const asked: ((sender: KnownSender | null) => void)[] = [];
  const findSender = () => new Promise<KnownSender | null>((resolve) => asked.push(resolve));
  return { asked, trust: createTrustService({ findSender } as unknown as TrustStore, createFakeClock()) };
}

test('what was read before a change of trust is not remembered after it', async () => {
  const { asked, trust } = open();
  const before = trust.resolve(envelope);
  trust.changed();
  asked[0]?.(anna);
  await before;
  const after = trust.resolve(envelope);
  asked[1]?.(null);
  expect((await after).denied).toBe(true);
});

test('a sender is looked up once until trust changes', async () => {
  const { asked, trust } = open();
  const first = trust.resolve(envelope);
  asked[0]?.(anna);
  expect((await first).denied).toBe(false);
  expect((await trust.resolve(envelope)).denied).toBe(false);
  expect(asked).toHaveLength(1);
  trust.changed();
  const again = trust.resolve(envelope);
  asked[1]?.(null);
  expect((await again).denied).toBe(true);
});

test('while the gate is closed everybody is denied, whoever is asking already', async () => {
  const { asked, trust } = open();
  const waiting = trust.resolve(envelope);
  trust.closeGate('no trust');
  asked[0]?.(anna);
  expect((await waiting).denied).toBe(true);
  expect(await trust.resolve(envelope)).toMatchObject({ denied: true, reason: 'no trust' });
});
