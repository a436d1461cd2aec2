import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Principal, Role } from '@svc/contract/trust.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { startCliCore, type CliCore } from '@svc/testing/run-svc.ts';

let core: CliCore;
beforeAll(async () => void (core = await startCliCore()));
afterAll(() => core.close());

const svc = (...args: string[]) => core.svc(['person', ...args]);

test('a person is added, linked, granted a role for a while, explained, disabled and forgotten', async () => {
  expect(await svc('add', 'anna', 'Anna', 'Kern', '--role', 'known')).toMatchObject({ code: 0, err: '' });
  expect((await svc('link', 'anna', 'messenger', '42')).code).toBe(0);
  expect((await svc('grant', 'anna', 'trusted', '--channel', 'messenger', '--until', '7d')).code).toBe(0);
  const { principals } = JSON.parse((await svc('list', '--json')).out) as { principals: Principal[] };
  expect(principals.find(({ key }) => key === 'anna')).toMatchObject({
    display_name: 'Anna Kern',
    identifiers: [{ surface: 'messenger', value: '42' }],
    grants: [{ role: 'known' }, { role: 'trusted', scope: { surface: 'messenger' } }],
  });
  expect((await svc('explain', 'messenger', '42')).out).toContain('trusted: may let it do anything on this machine.');
  expect((await svc('revoke', 'anna', 'trusted')).code).toBe(0);
  expect((await svc('explain', 'messenger', '42')).out).toContain('known: may let it look things up');
  expect((await svc('disable', 'anna')).code).toBe(0);
  expect((await svc('explain', 'messenger', '42')).out).toContain('Denied: the person is disabled.');
  expect((await svc('unlink', 'anna', 'messenger', '42')).code).toBe(0);
  expect((await svc('remove', 'anna')).code).toBe(0);
  expect((await svc('uninvite', 'invitation_none')).err).toContain('\nRun: ./svc person invite\n');
  expect((await svc('invite', '--until', '30d')).err).toContain('\nRun: ./svc person invite --help\n');
  const { out } = await svc('audit', 'anna');
  expect(out.split('\n').filter(Boolean)).toHaveLength(8);
  expect(out).toContain('principal deleted');
});

test('a role is added, changed and granted, and deleted only when no person has it', async () => {
  const role = (...args: string[]) => core.svc(['role', ...args]);
  const added = await role(
    'add',
    'reader',
    '--tier',
    'known',
    '--tools',
    'read',
    '--channels',
    'messenger,email',
    '--about',
    'reads',
  );
  expect(added, added.err).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^reader {2}known .*messenger, email only {2}reads\n/) as string,
  });
  expect(await role('add', 'reader', '--tier', 'owner', '--tools', 'full')).toMatchObject({
    code: 1,
    err: expect.stringContaining('there is a role "reader" already.') as string,
  });
  expect((await role('set', 'reader', '--tools', 'none', '--channels', 'all')).code).toBe(0);
  const { roles } = JSON.parse((await role('list', '--json')).out) as { roles: Role[] };
  expect(roles.find(({ name }) => name === 'reader')).toMatchObject({
    tier: 'KNOWN',
    tool_policy: 'none',
    surfaces: '*',
    description: 'reads',
  });
  expect((await role('set', 'reader')).err).toContain('no change was given.');
  await svc('add', 'rita', 'Rita', '--role', 'reader');
  expect((await role('remove', 'reader')).err).toContain('is granted to rita');
  await svc('remove', 'rita');
  expect(await role('remove', 'reader')).toMatchObject({ code: 0, out: 'The role reader is deleted.\n' });
  expect((await role('set', 'reader', '--tools', 'read')).err).toContain('there is no role "reader".');
});

test('a refusal exits with code 1, the reason and what to do', async () => {
  expect(await svc('disable', 'owner')).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringMatching(
      /nothing was changed\.\n.*"owner" is the last person with every right[^]*\nRun: \.\/svc person list/,
    ) as string,
  });
  const asJson = await svc('disable', 'owner', '--json');
  expect([asJson.code, JSON.parse(asJson.out)]).toMatchObject([1, { ok: false, error: 'conflict' }]);
  const halfPerson = await svc('add', 'bob', 'Bob', '--role', 'emperor');
  expect(halfPerson).toMatchObject({
    code: 1,
    err: expect.stringContaining('The roles are: owner, trusted, known, guest') as string,
  });
  expect((await svc('list')).out).not.toContain('Bob');
});

test('says how to start the service when it is not running', async () => {
  const [port] = await freePorts(1);
  const { code, err } = await core.svc(['person', 'list'], { env: { ...core.env, SVC_CORE_PORT: String(port) } });
  expect(code).toBe(1);
  expect(err).toContain('the service is not running.');
  expect(err).toContain('Run: ./svc up');
});
