import { spawn } from 'node:child_process';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Principal } from '@svc/contract/trust.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { startCore } from '@svc/testing/spawn-core.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';

const folder = temporaryFolder();
let core: Awaited<ReturnType<typeof startCore>>;
let env: Record<string, string | undefined>;

beforeAll(async () => {
  const [corePort, manager, collector] = (await freePorts(3)) as [number, number, number];
  env = {
    PATH: process.env['PATH'],
    HOME: folder.path,
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    SVC_DATA_DIR: folder.path,
    SVC_CORE_PORT: String(corePort),
  };
  core = await startCore(folder.path, { core: corePort, manager, collector });
});
afterAll(async () => {
  core.child.kill('SIGKILL');
  await core.exited;
  folder.remove();
});

async function svc(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [path.join(repositoryRoot, 'apps/cli/src/main.ts'), 'trust', ...args], { env });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, out, err };
}

test('a person is added, linked, granted a role for a while, explained, disabled and forgotten', async () => {
  expect(await svc('add', 'anna', 'Anna', 'Kern', '--role', 'known')).toMatchObject({ code: 0, err: '' });
  expect((await svc('link', 'anna', 'messenger', '42')).code).toBe(0);
  expect((await svc('grant', 'anna', 'trusted', '--surface', 'messenger', '--until', '7d')).code).toBe(0);
  const { principals } = JSON.parse((await svc('list', '--json')).out) as { principals: Principal[] };
  expect(principals.find(({ key }) => key === 'anna')).toMatchObject({
    display_name: 'Anna Kern',
    identifiers: [{ surface: 'messenger', value: '42' }],
    grants: [{ role: 'known' }, { role: 'trusted', scope: { surface: 'messenger' } }],
  });
  expect((await svc('explain', 'messenger', '42')).out).toContain('TRUSTED: may let it do anything on this machine.');
  expect((await svc('revoke', 'anna', 'trusted')).code).toBe(0);
  expect((await svc('explain', 'messenger', '42')).out).toContain('KNOWN: may let it look things up');
  expect((await svc('disable', 'anna')).code).toBe(0);
  expect((await svc('explain', 'messenger', '42')).out).toContain('Denied: the principal is disabled.');
  expect((await svc('unlink', 'anna', 'messenger', '42')).code).toBe(0);
  expect((await svc('remove', 'anna')).code).toBe(0);
  const { out } = await svc('audit', 'anna');
  expect(out.split('\n').filter(Boolean)).toHaveLength(8);
  expect(out).toContain('principal deleted');
});

test('what is refused ends with 1, the reason and what to do', async () => {
  expect(await svc('disable', 'owner')).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringMatching(
      /nothing was changed\.\n.*"owner" is the last with every right[^]*\nRun: \.\/svc trust list/,
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

test('without a service it is said how to start it', async () => {
  const before = env['SVC_CORE_PORT'];
  env['SVC_CORE_PORT'] = String((await freePorts(1))[0]);
  const { code, err } = await svc('list');
  env['SVC_CORE_PORT'] = before;
  expect(code).toBe(1);
  expect(err).toContain('the service is not running.');
  expect(err).toContain('Run: ./svc up');
});
