import type { Role } from '@svc/contract/trust.ts';
import { expect, test } from 'vitest';
import { effectsOf, type RoleDraft } from './role-effect.ts';

const role: Role = {
  id: 'role_1',
  name: 'known',
  tier: 'KNOWN',
  tool_policy: 'read',
  surfaces: '*',
  tool_servers: '*',
  asks: 'never',
  description: '',
};
const { id: _id, ...same } = role;

test.each<[string, Partial<RoleDraft>, string[]]>([
  ['nothing', { description: 'other words' }, []],
  ['a higher tier', { tier: 'TRUSTED' }, ['They rise from known to trusted.']],
  ['a lower tier', { tier: 'GUEST' }, ['They fall from known to guest.']],
  ['a block', { tier: 'BLOCKED' }, ['They are refused, whatever else they were given.']],
  ['too low a tier', { tier: 'UNKNOWN' }, ['They are refused, unless another role lets them in.']],
  ['more tools', { tool_policy: 'full' }, ['From their next message on they may let it do anything on this machine.']],
  ['no tools', { tool_policy: 'none' }, ['From now on they may only talk with it; running turns that may do more are ended.']],
  ['fewer channels', { surfaces: ['email'] }, ['It applies only on these channels: email.']],
  ['no tool servers', { tool_servers: [] }, ['Their tool servers: none.']],
  ['questions', { asks: 'always' }, ['The assistant asks them first: before every tool (so far: never).']],
])('describes the effect of %s', (_what, change, effects) => {
  expect(effectsOf(role, { ...same, ...change })).toEqual(effects);
});
