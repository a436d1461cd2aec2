import { expect, test } from 'vitest';
import type { Tier, ToolPolicy } from '@svc/contract/trust.ts';
import type { Turn } from '../turn/turn.ts';
import { countWrite, operator, rightsOf, type Rights } from './tool-caller.ts';

const turn = (isPublic: boolean): Turn => ({
  id: 't',
  seq: 1,
  requestId: 'r',
  instanceId: null,
  envelope: {
    channel: 'compat',
    conversation_key: 'k',
    sender: { raw_id: 'u', raw_username: 'u' },
    content: { text: 'x' },
    delivery: 'sync',
    public: isPublic,
  },
});

test.each<[Tier, ToolPolicy, 'private' | 'public', Rights['tools'], Rights['reach']]>([
  ['SACRED', 'full', 'private', 'full', 'all'],
  ['TRUSTED', 'full', 'private', 'full', 'all'],
  ['TRUSTED', 'full', 'public', 'full', 'here'],
  ['TRUSTED', 'read', 'private', 'read', 'all'],
  ['TRUSTED', 'none', 'private', 'none', 'all'],
  ['KNOWN', 'full', 'private', 'full', 'own'],
  ['KNOWN', 'read', 'private', 'read', 'own'],
  ['KNOWN', 'read', 'public', 'read', 'here'],
  ['GUEST', 'full', 'private', 'none', 'own'],
  ['GUEST', 'none', 'private', 'none', 'own'],
  ['UNKNOWN', 'read', 'private', 'none', 'own'],
])('%s with the policy %s in a %s conversation: tools %s, reach %s', (trust_tier, tool_policy, place, tools, reach) => {
  const identity = { principal_id: 'p', principal_key: 'ann', trust_tier, tool_policy, asks: 'never' as const };
  expect(rightsOf({ turn: turn(place === 'public'), identity })).toEqual({ tools, reach });
});

test('the operator has full tools and reach', () => {
  expect(rightsOf(operator())).toEqual({ tools: 'full', reach: 'all' });
});

test('a turn can send or announce at most thirty times', () => {
  const caller = operator();
  for (let i = 0; i < 30; i++) countWrite(caller);
  expect(() => countWrite(caller)).toThrow(/30 times already/);
});
