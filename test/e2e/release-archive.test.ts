import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openArchiveHouse, type ArchiveHouse } from './release-archive/archive-house.ts';

let house: ArchiveHouse;

beforeAll(async () => {
  house = await openArchiveHouse();
}, 240_000);
afterAll(() => house.close(), 60_000);

test('what is published can be checked with the tools of any machine', () => {
  const { published } = house;
  expect(readdirSync(published).map((name) => name.replace(/^.*-\w+\./, ''))).toEqual(
    expect.arrayContaining(['SHA256SUMS', 'SHA256SUMS.sig', 'json', 'cdx.json', 'tar.gz']),
  );
  execFileSync('sha256sum', ['--check', '--strict', '--status', 'SHA256SUMS'], { cwd: published });
  const verify = ['-Y', 'verify', '-n', 'svc-release', '-I', 'ann@example.org', '-f', house.signers, '-s', 'SHA256SUMS.sig'];
  const input = readFileSync(path.join(published, 'SHA256SUMS'));
  execFileSync('ssh-keygen', verify, { cwd: published, input, stdio: 'pipe' });
  expect(() => execFileSync('ssh-keygen', verify, { cwd: published, input: `${input} `, stdio: 'pipe' })).toThrow(
    'incorrect signature',
  );
});

test('the list of contents names exactly what is installed, with its Node', () => {
  const file = readdirSync(house.published).find((name) => name.endsWith('.cdx.json')) ?? '';
  const { components } = JSON.parse(readFileSync(path.join(house.published, file), 'utf8')) as {
    components: { 'bom-ref': string }[];
  };
  const listed = components.map((each) => each['bom-ref']).filter((ref) => !ref.startsWith('@svc/'));
  const { packages } = JSON.parse(readFileSync(house.file('node_modules/.package-lock.json'), 'utf8')) as {
    packages: Record<string, { version?: string }>;
  };
  const places = Object.entries(packages).filter(([place]) => place.includes('node_modules/') && !place.includes('/@svc/'));
  const installed = places.map(([place, { version }]) => `${place.split('node_modules/').at(-1)}@${version}`);
  const node = listed.filter((ref) => ref.startsWith(`node-${process.platform}-${process.arch}@`));
  expect(new Set(listed)).toEqual(new Set([...installed, ...node]));
  expect([node.length, installed.length > 100, existsSync(house.file('node_modules/vitest'))]).toEqual([1, true, false]);
});

test('it starts as it was unpacked: Node, dependencies and web pages are there, and no tool is run', async () => {
  await house.up();
  expect(await house.shas()).toEqual([house.commit, house.commit, house.commit]);
  const page = await fetch(house.urls.dashboard);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<script')]);
  const { code, out } = await house.svc(['chat', '--json', 'hello']);
  expect([code, out]).toEqual([0, expect.stringContaining('"outcome":"replied"')]);
  expect(house.toolsRun()).toBe('');
}, 120_000);

test('an update is left to whom it came from, with words of what to do', async () => {
  const { code, out } = await house.svc(['update']);
  expect([code, out]).toEqual([6, expect.stringContaining('archive')]);
  expect(await house.svc(['update'], { SVC_UPDATE_MANAGED: 'podman' })).toEqual({
    code: 6,
    out: expect.stringContaining('podman pull'),
  });
}, 60_000);
