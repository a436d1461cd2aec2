import { execFileSync } from 'node:child_process';
import { appendFileSync, copyFileSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { once } from 'node:events';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { signalProcess } from '@svc/service-kit/process/signal-process.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openArchiveHouse, servicePorts, type ArchiveHouse } from './release-archive/archive-house.ts';
import { buildContainer, whyNoContainers } from './release-archive/container.ts';
import { openReleasePlace, type ReleasePlace } from '@svc/testing/release-place.ts';

let house: ArchiveHouse;
let place: ReleasePlace;
let served = '';

beforeAll(async () => {
  house = await openArchiveHouse();
  served = house.published;
  place = await openReleasePlace(() => served);
}, 240_000);
afterAll(() => {
  place.close();
  house.close();
}, 180_000);

test('the checksums and the signature of a release can be verified with sha256sum and ssh-keygen', () => {
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

test('the SBOM lists exactly the installed packages, and Node', () => {
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

test('an unpacked archive starts without running any tool: Node, dependencies and web pages are included', async () => {
  await house.up();
  expect(await house.shas()).toEqual([house.commit, house.commit, house.commit]);
  const page = await fetch(house.urls.dashboard);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<script')]);
  const { code, out } = await house.svc(['chat', '--json', 'hello']);
  expect([code, out]).toEqual([0, expect.stringContaining('"outcome":"replied"')]);
  expect(house.toolsRun()).toBe('');
}, 120_000);

test('svc update leaves the update to the packager and says what to do', async () => {
  const { code, out } = await house.svc(['update']);
  expect([code, out]).toEqual([6, expect.stringContaining('archive')]);
  expect(await house.svc(['update'], { SVC_UPDATE_MANAGED: 'podman' })).toEqual({
    code: 6,
    out: expect.stringContaining('podman pull'),
  });
}, 60_000);

describe('an update by archive', () => {
  beforeEach(({ skip }) => {
    // Another 300 MB are packed, fetched and unpacked, and a service starts three times.
    skip(process.env['SVC_TEST_HEAVY'] === undefined, 'it takes a minute; SVC_TEST_HEAVY=1 runs it');
  });
  const next = 'b'.repeat(40);
  const update = (...args: string[]) => house.svc(['update', ...args], { SVC_UPDATE_ARCHIVES: place.url });
  const all = (sha: string) => [sha, sha, sha];
  const archive = () => path.join(served, readdirSync(served).find((name) => name.endsWith('.tar.gz')) ?? '');
  let newer = '';

  test('exits with code 4 when there is nothing newer', async () => {
    expect(await update()).toMatchObject({ code: 4 });
    expect(place.asked.filter((name) => name.includes('.tar.gz'))).toEqual([]);
  });

  test('refuses a release with a wrong signature or checksum, and changes nothing', async () => {
    newer = newer === '' ? await house.release('9.0.0', next) : newer;
    served = newer;
    const [sums, signature] = [path.join(newer, 'SHA256SUMS'), path.join(newer, 'SHA256SUMS.sig')];
    const size = readFileSync(archive()).length;
    const refuses = async (words: string) => {
      expect(await update()).toEqual({ code: 3, out: expect.stringContaining(words) });
      expect(await house.shas()).toEqual(all(house.commit));
      expect(readdirSync(house.file('.runtime')).includes('current')).toBe(false);
    };
    copyFileSync(sums, `${sums}.kept`);
    appendFileSync(sums, `${'0'.repeat(64)}  assistant-gateway-9.9.9-linux-x64.tar.gz\n`);
    await refuses('not signed');
    copyFileSync(`${sums}.kept`, sums);
    rmSync(`${sums}.kept`);
    copyFileSync(signature, `${signature}.kept`);
    copyFileSync(path.join(house.published, 'SHA256SUMS.sig'), signature);
    await refuses('not signed');
    copyFileSync(`${signature}.kept`, signature);
    rmSync(`${signature}.kept`);
    appendFileSync(archive(), 'more');
    await refuses('not what the checksums say');
    truncateSync(archive(), size);
  }, 120_000);

  test('resumes a download that was cut, also in the next run', async () => {
    const limit = 4 * 2 ** 20;
    place.asked.length = 0;
    place.cut(limit, Number.MAX_SAFE_INTEGER);
    const child = house.spawn(['update'], { SVC_UPDATE_ARCHIVES: place.url });
    await expect.poll(() => place.asked.filter((name) => name.includes('.tar.gz')).length).toBeGreaterThan(2);
    child.kill('SIGKILL');
    await once(child, 'exit');
    place.cut(limit, 2);
    place.asked.length = 0;
    const { code, out } = await update();
    expect([code, out]).toEqual([0, expect.stringContaining('Updated from 0.1.0 to v9.0.0')]);
    const from = place.asked.flatMap((name) => (name.includes('.tar.gz') ? [Number(name.split(' ')[1])] : []));
    expect([from.length, from.every((byte) => byte >= limit)]).toEqual([3, true]);
  }, 180_000);

  test('runs the newer version without a tool of the machine, and the folder hands over to it', async () => {
    expect(await house.shas()).toEqual(all(next));
    expect(await house.svc(['--version'])).toEqual({ code: 0, out: '9.0.0\n' });
    expect(await update()).toMatchObject({ code: 4 });
    expect(house.toolsRun()).toBe('');
  }, 60_000);

  test('returns to the previous version with --rollback', async () => {
    expect(await update('--rollback')).toMatchObject({ code: 0 });
    expect(await house.shas()).toEqual(all(house.commit));
    const { code } = await house.svc(['chat', '--json', 'hello']);
    expect(code).toBe(0);
    expect(house.toolsRun()).toBe('');
  }, 120_000);
});

describe('as a container', () => {
  beforeEach(({ skip }) => {
    const why = whyNoContainers();
    skip(why !== null, why ?? '');
    skip(process.env['SVC_TEST_HEAVY'] === undefined, 'it takes a minute; SVC_TEST_HEAVY=1 runs it');
  });

  test('the image of the Containerfile runs as an unprivileged user, answers, and says how to update', async () => {
    const work = temporaryFolder();
    const recipe = path.resolve(import.meta.dirname, '../../Containerfile');
    const archive = readdirSync(house.published).find((name) => name.endsWith('.tar.gz')) ?? '';
    const node = house.file('.runtime/node_modules/.bin/node');
    const container = await buildContainer(recipe, path.join(house.published, archive), node, work.path);
    const env: Record<string, string> = { ...(await servicePorts()), SVC_DEFAULT_ENGINE: 'offline' };
    const up = container.start(['/opt/assistant-gateway/svc', 'up'], env);
    try {
      let said = '';
      for (const stream of [up.stdout, up.stderr]) stream?.setEncoding('utf8').on('data', (text: string) => (said += text));
      await expect.poll(() => said, { timeout: 60_000 }).toContain('Ctrl-C stops all');
      const version = (await (await fetch(`http://127.0.0.1:${env['SVC_CORE_PORT']}/version`)).json()) as { sha: string };
      expect(version.sha).toBe(house.commit);
      expect(await container.run(['id', '-u'], env)).toEqual({ code: 0, out: '1000\n' });
      const { code, out } = await container.run(['/opt/assistant-gateway/svc', 'chat', '--json', 'hello'], env);
      expect([code, out]).toEqual([0, expect.stringContaining('"outcome":"replied"')]);
      const update = await container.run(['/opt/assistant-gateway/svc', 'update'], env);
      expect([update.code, update.out]).toEqual([6, expect.stringContaining('newer image')]);
    } finally {
      // It is also a process of this machine, which buildah would leave running.
      const { out } = await container.run(['cat', '/data/svc/run/supervisor.json'], env);
      signalProcess((JSON.parse(out) as { pid: number }).pid, 'SIGTERM');
      await once(up, 'exit');
      await container.remove();
      work.remove();
    }
  }, 240_000);
});
