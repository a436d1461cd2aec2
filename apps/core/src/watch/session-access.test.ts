import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SessionRequest } from '@svc/contract/link.ts';
import { tiers } from '@svc/contract/trust.ts';
import { checkAccess } from './session-access.ts';

const ops = ['history', 'watch', 'forget', 'abort', 'inject'] as const;

test('grants access to the person of a conversation and to owners, within the instances of the connector', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        op: fc.constantFrom(...ops),
        tier: fc.constantFrom(...tiers),
        denied: fc.boolean(),
        asker: fc.constantFrom('p1', 'p2', null),
        owner: fc.constantFrom('p1', 'p2', null),
        key: fc.constantFrom('shop:s1:user:1', 'shop:s2:user:1', 'shop:s1', 'shop:s10:user:1', 'compat:s1:user:1'),
        every: fc.boolean(),
        isThere: fc.boolean(),
      }),
      async ({ op, tier, denied, asker, owner, key, every, isThere }) => {
        const deps = {
          trust: { resolve: async () => ({ denied, trust_tier: tier, principal_id: asker }) },
          sessions: { read: async () => (isThere ? { conversation_key: key, principal_id: owner } : undefined) },
        };
        const peer = { type: 'shop', instanceId: 's1', ...(every && { sessions: 'every' as const }) };
        const request = { op, id: 1, as: { channel: 'shop', sender: { raw_id: 'x' } }, conversation_key: key };
        const found = await checkAccess(deps as never, peer, request as Exclude<SessionRequest, { op: 'sessions' }>).then(
          () => 'ok',
          ({ code }: { code: string }) => code,
        );
        const isOwnKey = key === 'shop:s1:user:1';
        const isOwnPerson = isOwnKey && asker !== null && asker === owner;
        const isKnown = tiers.indexOf(tier) >= tiers.indexOf('KNOWN');
        const mayDo = op === 'history' || op === 'watch' || isKnown;
        if (denied) expect(found).toBe('no_access');
        else if (!isThere || !(isOwnKey || every)) expect(found).toBe('not_found');
        else expect(found).toBe(tier === 'SACRED' || (isOwnPerson && mayDo) ? 'ok' : 'forbidden');
      },
    ),
    { numRuns: 2000 },
  );
});
