import { describe, expect, test } from 'vitest';
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
    {
      id: 'grant_1',
      role: 'known',
      tier: 'KNOWN',
      tool_policy: 'read',
      surfaces: '*',
      tool_servers: '*',
      asks: 'never',
      scope_surface: null,
      scope_conversation_key: null,
      expires_at: null,
    },
  ],
};
const envelope = { channel: 'compat', conversation_key: 'k', sender: { raw_id: 'anna' } };

/** A store whose answers are given by the test. */
function open() {
  const asked: ((sender: KnownSender | null) => void)[] = [];
  const findSender = () => new Promise<KnownSender | null>((resolve) => asked.push(resolve));
  return {
    asked,
    trust: createTrustService({ findSender, findPrincipal: async () => null, identifiers: async () => [] }, createFakeClock()),
  };
}

test('a lookup begun before a change of trust is not cached after it', async () => {
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

test('a closed gate denies everyone, including lookups under way', async () => {
  const { asked, trust } = open();
  const waiting = trust.resolve(envelope);
  trust.closeGate('no trust');
  asked[0]?.(anna);
  expect((await waiting).denied).toBe(true);
  expect(await trust.resolve(envelope)).toMatchObject({ denied: true, reason: 'no trust' });
});

describe('strangers', () => {
  const message = (channel: string, raw_id: string) => ({ channel, conversation_key: 'k', sender: { raw_id } });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const serve = async (identifiers: TrustStore['identifiers']) => {
    const store = { findSender: async () => anna, findPrincipal: async () => anna, identifiers };
    const trust = createTrustService(store, createFakeClock());
    trust.changed();
    await settled();
    return trust;
  };

  test('are recognized without a lookup once all identifiers are loaded', async () => {
    const trust = await serve(async () => [{ surface: 'email', value: 'anna@x.y' }]);
    expect(trust.strangerOf(message('email', 'ANNA@x.y'))).toBeNull();
    expect(trust.strangerOf(message('emaila', 'nna@x.y'))).toMatchObject({ denied: true, denial: 'unknown_sender' });
    expect(trust.strangerOf(message('email', 'bob@x.y'))).toMatchObject({ denied: true, denial: 'unknown_sender' });
    trust.changed();
    expect(trust.strangerOf(message('email', 'bob@x.y'))).toBeNull();
  });

  test.each([
    ['the store fails', () => Promise.reject(new Error('gone'))],
    ['there are too many', async () => Array.from({ length: 100_001 }, (_, i) => ({ surface: 'email', value: `${i}` }))],
  ])('are looked up like others when %s', async (_why, identifiers) => {
    expect((await serve(identifiers)).strangerOf(message('email', 'bob'))).toBeNull();
  });

  test('are not recognized from identifiers read before a change of trust', async () => {
    const answers: ((all: []) => void)[] = [];
    const trust = await serve(() => new Promise((resolve) => answers.push(resolve)));
    trust.changed();
    answers[0]?.([]);
    await settled();
    expect(trust.strangerOf(message('email', 'bob'))).toBeNull();
    answers[1]?.([]);
    await settled();
    expect(trust.strangerOf(message('email', 'bob'))).toMatchObject({ denied: true });
  });

  test('are all senders while the gate is closed', async () => {
    const trust = await serve(async () => [{ surface: 'email', value: 'anna' }]);
    trust.closeGate('no trust');
    expect(trust.strangerOf(message('email', 'anna'))).toMatchObject({ denial: 'gate_closed' });
    expect(await trust.resolvePrincipal('principal_1', message('email', 'anna'))).toMatchObject({ denial: 'gate_closed' });
  });
});

test('a person is resolved by id, and without one the sender is unknown', async () => {
  const store = { findSender: async () => null, findPrincipal: async () => anna, identifiers: async () => [] };
  const trust = createTrustService(store, createFakeClock());
  expect(await trust.resolvePrincipal('principal_1', envelope)).toMatchObject({ trust_tier: 'KNOWN' });
  expect(await trust.resolvePrincipal(null, envelope)).toMatchObject({ denied: true });
});

test('a conversation is public when the message or the instance says so, and trust is capped there', async () => {
  const owner = { ...anna, grants: anna.grants.map((grant) => ({ ...grant, tier: 'SACRED' as const })) };
  const store = { findSender: async () => owner, findPrincipal: async () => owner, identifiers: async () => [] };
  const tierOf = async (ofMessage: boolean | undefined, ofInstance: boolean | undefined) => {
    const trust = createTrustService(store, createFakeClock(), () => ({ public: ofInstance }));
    return (await trust.resolve({ ...envelope, public: ofMessage })).trust_tier;
  };
  expect([await tierOf(undefined, undefined), await tierOf(false, false)]).toEqual(['SACRED', 'SACRED']);
  expect([await tierOf(true, false), await tierOf(false, true)]).toEqual(['TRUSTED', 'TRUSTED']);
});

test('listeners hear every change of trust until they unsubscribe', () => {
  const { trust } = open();
  const heard: string[] = [];
  const [stop] = ['a', 'b'].map((name) => trust.onChange(() => heard.push(name)));
  trust.changed();
  stop?.();
  trust.changed();
  expect(heard).toEqual(['a', 'b', 'b']);
});

test('at most ten thousand senders are cached', async () => {
  let asked = 0;
  const findSender = async () => (asked++, null);
  const trust = createTrustService(
    { findSender, findPrincipal: async () => null, identifiers: async () => [] },
    createFakeClock(),
  );
  for (let i = 0; i < 10_001; i++) await trust.resolve({ ...envelope, sender: { raw_id: `${i}` } });
  await trust.resolve({ ...envelope, sender: { raw_id: '10000' } });
  expect(asked).toBe(10_001);
  await trust.resolve({ ...envelope, sender: { raw_id: '0' } });
  expect(asked).toBe(10_002);
});
