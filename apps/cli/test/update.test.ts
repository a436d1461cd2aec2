import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isWebAppBuilt, webAppFolder } from '@svc/service-kit/packages/build-web-app.ts';
import { until } from '@svc/testing/until.ts';
import { usualOrDeep } from '@svc/testing/usual-or-deep.ts';
import { compiledFiles, fewCompiled, takePages, takeWebTools } from './copy-installation.ts';
import { openUpdateHouse, type UpdateHouse } from './update-house.ts';
import { startTalker } from './update-talker.ts';

let house: UpdateHouse;
let first = '';
let good = '';

beforeAll(async () => {
  house = await openUpdateHouse({ pages: true });
  first = house.remote.git(['rev-parse', 'v0.1.0']);
  // Every update has pages to build.
  await takePages(house.clone);
  takeWebTools(house.clone);
  await house.up();
}, 240_000);
// A loaded machine takes its time to remove so many files.
afterAll(() => house.close(), 180_000);

const version = () => readFileSync(house.file('VERSION'), 'utf8').trim();
const all = (sha: string) => [sha, sha, sha];
const onlyForReal = (text: string) => `if (!(process.env['SVC_DATA_DIR'] ?? '').includes('dry-run')) { ${text} }\n`;

/** Expects that the processes run this commit, still in the foreground, and that the clone is unchanged at it. */
async function runsOn(sha: string): Promise<void> {
  expect(house.isInForeground(), 'the process that a terminal or a service manager knows').toBe(true);
  expect(await house.shas()).toEqual(all(sha));
  expect(house.remote.git(['rev-parse', `${sha}^{tree}`])).toBe(
    (await import('node:child_process')).execFileSync('git', ['write-tree'], { cwd: house.clone, encoding: 'utf8' }).trim(),
  );
}

/** When the process of the core was started, epoch ms. */
function coreBegan(): number {
  const pid = house.state()?.services.find(({ name }) => name === 'core')?.pid ?? 0;
  const ticks = Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19]);
  const upS = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
  return Date.now() - (upS - ticks / 100) * 1000;
}

test('exits with 4 and copies nothing when there is nothing newer', async () => {
  expect(await house.svc(['update'])).toMatchObject({ code: 4 });
  expect(await house.svc(['update', '--check'])).toMatchObject({ code: 4 });
  await runsOn(first);
});

test('exits with 3 when nothing can be written, also with --json', async () => {
  const folder = house.file('.runtime/update');
  renameSync(folder, `${folder}.aside`);
  writeFileSync(folder, 'in the way');
  const { code, out } = await house.svc(['update', '--rollback', '--json']);
  rmSync(folder);
  renameSync(`${folder}.aside`, folder);
  expect(JSON.parse(out)).toMatchObject({ code: 3, words: expect.stringContaining('.runtime/update') });
  expect(code).toBe(3);
});

test('--check shows the newer version and changes nothing', async () => {
  good = house.release('v0.2.0', {
    // As in each release, the version changes, and no package does.
    'package-lock.json': (text) => text.replace('"version": "0.1.0"', '"version": "0.2.0"'),
    '.env.example': (text) => `${text}\n# Something new.\n#SVC_NEW=1\n`,
  });
  const { code, out } = await house.svc(['update', '--check']);
  expect(code).toBe(0);
  expect(out).toContain('v0.2.0');
  await runsOn(first);
});

test('local changes stop an update to a release, are named, and stay', async () => {
  const readme = house.file('README.md');
  const before = readFileSync(readme, 'utf8');
  writeFileSync(readme, `${before}mine\n`);
  const { code, out } = await house.svc(['update']);
  expect(code).toBe(3);
  expect(out).toContain('README.md');
  expect(readFileSync(readme, 'utf8')).toBe(`${before}mine\n`);
  const last = JSON.parse(readFileSync(house.file('.runtime/update/last.json'), 'utf8')) as object;
  expect(last, 'others see why, too').toMatchObject({
    code: 3,
    words: expect.stringContaining('README.md'),
    held: good,
    refused: null,
  });
  writeFileSync(readme, before);
});

test('a release without a valid signature is refused', async () => {
  const { code, out } = await house.svc(['update'], { SVC_UPDATE_ALLOW_UNSIGNED: 'false' });
  expect(code).toBe(3);
  expect(out).toContain('not signed');
  expect(out).toMatch(/\nRun: \.\/svc doctor\n$/);
  await runsOn(first);
});

test('a good version takes over with its code, folder and settings, and keeps the settings of the person', async () => {
  writeFileSync(house.file('.env'), '# mine\nSVC_LOG_LEVEL=info\n');
  const journal = house.file('.runtime/update/journal.json');
  const second = until(() => existsSync(journal), 60_000).then(() => house.svc(['update']));
  const talker = startTalker(house.coreUrl);
  const { code, out } = await house.svc(['update']);
  expect(await second, 'another one beside it').toMatchObject({ code: 5 });
  expect(out).toContain('Fetching v0.2.0 …\n');
  expect(out).toMatch(/Updated from 0\.1\.0 to v0\.2\.0\. The core was unavailable for \d+\.\d s\./);
  expect(await talker.end(), 'who went on talking').toEqual([]);
  expect(coreBegan(), 'its processes were loaded before the ones from before ended').toBeLessThan(house.state()?.started_at ?? 0);
  expect(code).toBe(0);
  await runsOn(good);
  expect(version()).toBe('0.2.0');
  expect(isWebAppBuilt(house.clone, 'dashboard'), 'its pages came along').toBe(true);
  const shared = compiledFiles(house.file('.runtime/versions', good)).filter((file) => statSync(file).nlink > 1);
  expect(shared.length, 'so did its compiled code').toBeGreaterThan(fewCompiled);
  expect(readFileSync(house.file('.env'), 'utf8')).toBe('# mine\nSVC_LOG_LEVEL=info\n\n# Something new.\n#SVC_NEW=1\n');
  expect(await house.svc(['update'])).toMatchObject({ code: 4 });
}, 240_000);

describe('a broken version is rolled back, or never put in place', () => {
  type Broken = [what: string, words: string, code: number, files: Parameters<UpdateHouse['release']>[1]];
  // A retried test makes another release, because the clone already has the first.
  let releases = 0;
  const isNotKept = async (...[, words, code, files]: Broken) => {
    const tag = `v0.3.${(releases += 1)}`;
    house.release(tag, files);
    const ran = await house.svc(['update', '--ref', tag]);
    expect(ran.out).toContain(words);
    expect(ran.code).toBe(code);
    await runsOn(good);
    expect(version()).toBe('0.2.0');
  };

  test('a version whose dashboard does not build', async () => {
    const files = { 'apps/dashboard/app/src/main.ts': "import './not-there.ts';\n" };
    await isNotKept('', 'The pages of its dashboard do not build', 2, files);
  }, 240_000);

  const broken: Broken[] = [
    [
      'has a migration that fails',
      'does not work here',
      2,
      {
        'apps/core/src/db/migrations/099-bad.sql': '-- 099 (code from 001 on still runs): bad\nCREATE TABLE turn (x);\n',
      },
    ],
    [
      'has a lock that does not fit',
      'does not work here',
      2,
      {
        'package.json': (text) => text.replace('"engines"', '"dependencies": { "left-pad": "1.3.0" },\n  "engines"'),
        'package-lock.json': (text) => `${text} `,
      },
    ],
    [
      'starts on a copy, and not for real',
      'rolled back',
      2,
      {
        'apps/collector/src/main.ts': (text) => `${onlyForReal('process.exit(78);')}${text}`,
      },
    ],
    [
      'comes up for real, and ends again and again',
      'rolled back',
      2,
      {
        'apps/manager/src/main.ts': (text) => `${text}${onlyForReal('setTimeout(() => process.exit(1), 200);')}`,
      },
    ],
    [
      'says that older code does not run on its schema',
      'A rollback to',
      3,
      {
        'apps/core/src/db/migrations/099-breaks.sql': '-- 099 (the table goes): no way back\nCREATE TABLE later (x);\n',
      },
    ],
  ];
  // Its core exits with an error each time, as with a migration that fails.
  const more: Broken[] = [
    ['does not start', 'does not work here', 2, { 'apps/core/src/main.ts': "throw new Error('broken');\n" }],
  ];
  describe('without dashboard pages, which would be built for each version', () => {
    beforeAll(() => {
      for (const root of [house.clone, house.file('.runtime/versions', good)])
        rmSync(webAppFolder(root, 'dashboard'), { recursive: true, force: true });
    });
    test.each(usualOrDeep(broken, [...broken, ...more]))('a version that %s', isNotKept, 240_000);
  });
});

test('--rollback returns to the previous version', async () => {
  const { code, out } = await house.svc(['update', '--rollback']);
  expect(out).toContain('0.1.0');
  expect(code).toBe(0);
  await runsOn(first);
}, 240_000);

test('leaves the update to a package manager', async () => {
  expect(await house.svc(['update'], { SVC_UPDATE_MANAGED: 'apt' })).toMatchObject({ code: 6 });
});
