import { expect, test } from 'vitest';
import { localActor, type Grant, type Principal, type Role } from '@svc/contract/trust.ts';
import { secondFactorHeaders } from '@svc/service-kit/http/second-factor.ts';
import { notFound, unavailable } from '@svc/service-kit/service-error.ts';
import { createHighRights } from './high-rights.ts';

const role = (id: string, tier: Role['tier'], tool_policy: Role['tool_policy'] = 'none') =>
  ({ id, name: id, tier, tool_policy }) as Role;
const roles = [
  role('guest', 'GUEST', 'read'),
  role('worker', 'GUEST', 'full'),
  role('trusted', 'TRUSTED'),
  role('out', 'BLOCKED'),
];
const grant = (role_id: string) => ({ id: `g_${role_id}`, role_id }) as Grant;
const person = (key: string, ...of: string[]) => ({ key, grants: of.map(grant) }) as Principal;
const people = [person('low', 'guest', 'out'), person('high', 'guest', 'worker'), person('other', 'trusted')];

const found = <T>(all: readonly T[], is: (one: T) => boolean, name: string): Promise<T> => {
  const one = all.find(is);
  return one === undefined ? Promise.reject(notFound('person', name)) : Promise.resolve(one);
};
const trustAdmin = {
  readRole: (name: string) => found(roles, ({ id }) => id === name, name),
  readPrincipal: (name: string) => found(people, ({ key }) => key === name, name),
  listRoles: async () => roles,
  listPrincipals: async () => people,
};
const named = { actor: 'anna', headers: {} };
const refused = { code: 'forbidden', details: { step_up: true } };
const { checkRole, checkPerson, checkRevoke } = createHighRights({ trustAdmin });

test.each([
  ['to give a role that is trusted', () => checkRole(named, 'trusted')],
  ['to give a role that may act', () => checkRole(named, 'worker')],
  ['to open what a person has who may act', () => checkPerson(named, 'high')],
  ['to open what a person has who is trusted', () => checkPerson(named, 'other')],
  ['to remove what blocks', () => checkRevoke(named, 'g_out')],
])('a fresh second factor is required %s', async (_what, check) => {
  await expect(check()).rejects.toMatchObject(refused);
});

test.each([
  ['to give a low role', () => checkRole(named, 'guest')],
  ['to open what a person has who is blocked or a guest', () => checkPerson(named, 'low')],
  ['to remove what allows', () => checkRevoke(named, 'g_trusted')],
  ['for what is not there', () => Promise.all([checkRole(named, 'x'), checkPerson(named, 'x'), checkRevoke(named, 'x')])],
  ['where it was just shown', () => checkRole({ ...named, headers: secondFactorHeaders(true) }, 'trusted')],
  ['of a program of this machine', () => checkRole({ actor: localActor, headers: {} }, 'trusted')],
])('no second factor is required %s', async (_what, check) => {
  await check();
});

test.each([unavailable('The store is busy.'), new Error('the disk')])('rejects when the store fails: %s', async (fault) => {
  const fails = () => Promise.reject(fault);
  const failing = createHighRights({ trustAdmin: { ...trustAdmin, readRole: fails, readPrincipal: fails } });
  await expect(failing.checkRole(named, 'trusted')).rejects.toBe(fault);
  await expect(failing.checkPerson(named, 'high')).rejects.toBe(fault);
  await expect(failing.checkRevoke(named, 'g_out')).rejects.toBe(fault);
});
