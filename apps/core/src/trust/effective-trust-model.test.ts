import fc from 'fast-check';
import { expect, test } from 'vitest';
import { askPolicies, tiers, toolPolicies, type AskPolicy, type Tier, type ToolPolicy } from '@svc/contract/trust.ts';
import { judgeGrants, toIdentity, type TrustContext } from './effective-trust.ts';
import type { GrantedRole, KnownSender } from './trust-store.ts';

/** Fewer runs in mutation tests. */
const runs = (usual: number) => (process.env['TEST_MUTANTS'] === '1' ? usual / 10 : usual);

const now = 1000;
const surface = fc.constantFrom('compat', 'messenger', 'email');
const conversation = fc.constantFrom('k1', 'k2');
const names = fc.oneof(fc.constant('*' as const), fc.subarray(['a', 'b', 'c']));

const grant: fc.Arbitrary<GrantedRole> = fc.record({
  id: fc.constant('grant'),
  role: fc.constant('role'),
  tier: fc.constantFrom(...tiers),
  tool_policy: fc.constantFrom(...toolPolicies),
  surfaces: fc.oneof(fc.constant('*' as const), fc.subarray(['compat', 'messenger', 'email'])),
  tool_servers: names,
  asks: fc.constantFrom(...askPolicies),
  scope_surface: fc.option(surface),
  scope_conversation_key: fc.option(conversation),
  expires_at: fc.option(fc.constantFrom(now - 1, now, now + 1)),
});
const sender: fc.Arbitrary<KnownSender> = fc.record({
  principal_id: fc.constant('p'),
  key: fc.constant('anna'),
  display_name: fc.constant('Anna'),
  active: fc.boolean(),
  bypass_moderation: fc.boolean(),
  grants: fc.array(grant, { maxLength: 5 }),
});
const context: fc.Arbitrary<TrustContext> = fc.record({
  surface,
  conversationKey: conversation,
  public: fc.boolean(),
  now: fc.constant(now),
});

type Outcome = { denied: true } | { denied: false; tier: Tier; tools: ToolPolicy; asks: AskPolicy; servers: string };

/** A reference implementation of the specification, step by step. */
function model(who: KnownSender | null, where: TrustContext): Outcome {
  if (who === null || !who.active) return { denied: true };
  let best = -1;
  let tools = 0;
  let asks = 2;
  let servers = new Set<string>();
  for (const given of who.grants) {
    const isLive = given.expires_at === null || where.now < given.expires_at;
    const isHere =
      [null, where.surface].includes(given.scope_surface) && [null, where.conversationKey].includes(given.scope_conversation_key);
    const counts = given.surfaces === '*' || given.surfaces.some((name) => name === where.surface);
    if (!isLive || !isHere || !counts) continue;
    const rank = ['BLOCKED', 'UNKNOWN', 'GUEST', 'KNOWN', 'TRUSTED', 'SACRED'].indexOf(given.tier);
    if (rank === 0) return { denied: true };
    if (rank < best) continue;
    if (rank > best) [tools, asks, servers] = [0, 2, new Set()];
    best = rank;
    const policy = ['none', 'read', 'full'].indexOf(given.tool_policy);
    if (policy > tools) [tools, asks] = [policy, 2];
    if (policy === tools) asks = Math.min(asks, ['never', 'dangerous', 'always'].indexOf(given.asks));
    for (const name of given.tool_servers) servers.add(name);
  }
  if (best < 2) return { denied: true };
  const capped = where.public ? Math.min(best, 4) : best;
  return {
    denied: false,
    tier: tiers[capped] ?? 'BLOCKED',
    tools: toolPolicies[tools] ?? 'none',
    asks: askPolicies[asks] ?? 'always',
    servers: servers.has('*') ? '*' : [...servers].toSorted().join(),
  };
}

const toOutcome = (who: KnownSender | null, where: TrustContext): Outcome => {
  const identity = toIdentity(who, where);
  const { tool_servers: servers } = identity;
  return identity.denied
    ? { denied: true }
    : {
        denied: false,
        tier: identity.trust_tier,
        tools: identity.tool_policy,
        asks: identity.asks,
        servers: servers === '*' ? '*' : servers.toSorted().join(),
      };
};

test('effective trust equals that of a reference model', () => {
  fc.assert(
    fc.property(fc.option(sender, { freq: 20 }), context, (who, where) => {
      expect(toOutcome(who, where)).toEqual(model(who, where));
    }),
    { numRuns: runs(5000) },
  );
});

test('a denied sender has no rights, and the order of grants does not matter', () => {
  fc.assert(
    fc.property(sender, context, (who, where) => {
      const identity = toIdentity(who, where);
      if (identity.denied) expect(identity).toMatchObject({ tool_policy: 'none', tool_servers: [], bypass_moderation: false });
      expect(toOutcome({ ...who, grants: who.grants.toReversed() }, where)).toEqual(toOutcome(who, where));
    }),
    { numRuns: runs(2000) },
  );
});

test('a grant that does not apply has no effect', () => {
  fc.assert(
    fc.property(sender, context, (who, where) => {
      const misfits = judgeGrants(who, where).map(({ misfit }) => misfit);
      const fitting = who.grants.filter((_given, index) => misfits[index] === null);
      expect(toIdentity({ ...who, grants: fitting }, where)).toEqual(toIdentity(who, where));
    }),
    { numRuns: runs(2000) },
  );
});

test('removing a grant other than a block never raises the trust', () => {
  const rank = (outcome: Outcome) => (outcome.denied ? -1 : tiers.indexOf(outcome.tier));
  fc.assert(
    fc.property(sender, context, fc.nat(), (who, where, at) => {
      const gone = who.grants[at % Math.max(1, who.grants.length)];
      fc.pre(gone !== undefined && gone.tier !== 'BLOCKED');
      const without = { ...who, grants: who.grants.filter((given) => given !== gone) };
      expect(rank(toOutcome(without, where))).toBeLessThanOrEqual(rank(toOutcome(who, where)));
    }),
    { numRuns: runs(2000) },
  );
});
