import { appendFileSync, existsSync, readdirSync, readFileSync, statSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testUnless, unlessAsked } from '@svc/testing/skip-note.ts';
import { commitOf, openArchiveUpdateHouse, type ArchiveUpdateHouse } from './update-archive-house.ts';
import { until } from '@svc/testing/until.ts';
import { mountSmallDisk } from './update-faults.ts';
import { becomes, createUpdateKills, isThorough, kills, type Goal, type UpdateKills } from './update-kills.ts';
import { startTalker, type Talker } from './update-talker.ts';

let house: ArchiveUpdateHouse;
let killing: UpdateKills;
let talker: Talker;
const known = new Set<string>([commitOf('0.1.0')]);
const args = ['update'];
let releases = 0;

/** A release that is newer than all before. */
async function next(): Promise<Goal> {
  const version = `0.2.${(releases += 1)}`;
  const commit = await house.release(version);
  known.add(commit);
  return { commit, version, args };
}

/** The version that `svc` of the folder hands over to; its own must be of the same version. */
function settledVersion(): string {
  const isSame = readFileSync(house.file('svc')).equals(readFileSync(house.file('.runtime/current/svc')));
  return isSame ? readFileSync(house.file('.runtime/current/VERSION'), 'utf8').trim() : 'its svc is of another version';
}

beforeAll(async () => {
  house = await openArchiveUpdateHouse();
  killing = createUpdateKills({ house, next, isKnown: (commit) => known.has(commit), settledVersion });
  await house.up();
  talker = startTalker(house.coreUrl);
}, 120_000);
afterAll(() => house.close(), 180_000);

const sizeOf = (...parts: string[]) => statSync(house.file(...parts), { throwIfNoEntry: false })?.size ?? 0;
const partOf = ({ commit }: Goal) => ['.runtime/update/download', `${commit}.tar.gz.part`];
const isUnpacking = ({ commit }: Goal) => existsSync(house.file('.runtime/versions', `${commit}.new`, 'apps'));

/** An update changes nothing, and says why. */
async function isRefused(words: string | RegExp, code = 3): Promise<void> {
  const before = await house.shas();
  expect(await house.svc(args)).toEqual({ code, out: expect.stringMatching(words) });
  expect(await house.shas()).toEqual(before);
  expect(killing.phase()).toBeNull();
}

describe('an archive server that fails or lies', () => {
  let goal: Goal;
  const answer = (change: Parameters<ArchiveUpdateHouse['place']['answerWith']>[0]) => house.place.answerWith(change);
  const isArchive = (name: string) => name.endsWith('.tar.gz');

  test('is unreachable, or disconnects for good during the download', async () => {
    goal = await next();
    answer((_name, request) => request.socket.destroy() !== undefined);
    await isRefused('Nothing was changed');
    answer((name, request) => isArchive(name) && request.socket.destroy() !== undefined);
    await isRefused('could not be downloaded');
    answer(null);
  }, 120_000);

  test('reports an archive as longer, or shorter, than it is', async () => {
    const whole = readFileSync(house.archiveOf(goal.version));
    for (const claimed of [whole.length + 5, whole.length - 5]) {
      answer((name, { socket, headers }) => {
        if (!isArchive(name)) return false;
        const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
        socket.write(`HTTP/1.1 ${from > 0 ? 206 : 200} OK\r\ncontent-length: ${claimed - from}\r\nconnection: close\r\n\r\n`);
        socket.end(whole.subarray(from));
        return true;
      });
      await isRefused(/could not be downloaded/);
    }
    answer(null);
  }, 120_000);

  test('serves other bytes than were signed, also when they change after the checksums were read', async () => {
    const file = house.archiveOf(goal.version);
    const size = statSync(file).size;
    answer((name) => {
      if (isArchive(name)) appendFileSync(file, 'more');
      return false;
    });
    await isRefused('not what the checksums say');
    answer(null);
    truncateSync(file, size);
  }, 120_000);

  test('offers an older release with a valid signature', async () => {
    await house.release('0.0.9');
    await isRefused('The newest archive is v0.0.9, and 0.1.0 is installed', 4);
  }, 120_000);
});

describe('a full disk', () => {
  /** `megabytes` null: room for a copy of the installed version, but not for another unpacked one. */
  type FullDisk = [what: string, folder: string, megabytes: number | null, fullIn: string | null, codes: number[]];
  // A disk in the place of versions hides those that are there, so these come before there are any.
  const disks: FullDisk[] = [
    ['of versions, while what runs is copied', '.runtime/versions', 30, null, [3]],
    ['of versions, while one is unpacked', '.runtime/versions', null, null, [3]],
    ['of downloads', '.runtime/update', 8, null, [3]],
    ['of the update, while the version is tried', '.runtime/update', 700, 'dry-run', [3]],
    ['of the update, while it takes over', '.runtime/update', 700, 'trying', [0, 3]],
    ['of the update, once it stays', '.runtime/update', 700, 'confirmed', [0, 3]],
  ];
  const quick = ['of versions, while what runs is copied', 'of downloads'];
  test.each(disks.filter(([what]) => isThorough || quick.includes(what)))(
    '%s: a complete version runs, the disk is cleaned up, and the next update completes',
    async (_what, folder, megabytes, fullIn, codes) => {
      const goal = await next();
      const disk = mountSmallDisk(house.file(folder), megabytes ?? 1.25 * installedMb());
      if (typeof disk === 'string') return void process.stderr.write(`not tried: ${disk}\n`);
      let ran = { code: -1, out: '' };
      let left: string[] = [];
      try {
        const running = house.svc(args);
        if (fullIn !== null) {
          await until(() => killing.hasReached(fullIn), 60_000);
          disk.fill();
        }
        ran = await running;
        left = filesIn(house.file(folder)).filter((file) => statSync(file).size > 2 ** 20 && !isKept(file));
      } finally {
        disk.remove();
      }
      expect(codes, ran.out).toContain(ran.code);
      if (fullIn === null) expect([ran.out, left]).toEqual([expect.stringMatching(/no space left|ENOSPC/i), []]);
      await becomes(killing.isWhole);
      if (isThorough && folder === '.runtime/update') await killing.isBroughtToAnEnd(goal);
    },
    300_000,
  );
});

/** What an unpacked version takes on a disk. */
const installedMb = (): number =>
  Math.round(
    filesIn(house.file('.'))
      .filter((file) => !file.startsWith(house.file('.runtime')))
      .reduce((bytes, file) => bytes + Math.ceil(statSync(file).size / 4096) * 4096, 0) /
      2 ** 20,
  );

/** What fills the disk here, and the copy of what runs, which is whole. */
const isKept = (file: string): boolean =>
  file.endsWith('.filler') || file.startsWith(house.file('.runtime/versions', commitOf('0.1.0'), '/'));

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));

test('after a kill in each of three phases a complete version runs, and the last update completes', async () => {
  const goal = await next();
  await killing.killWhen(goal, () => sizeOf(...partOf(goal)) > 2 ** 20);
  await killing.killWhen(goal, () => isUnpacking(goal));
  await killing.killWhen(goal, () => killing.hasReached('trying'));
  await killing.isBroughtToAnEnd(goal);
  expect(readdirSync(house.file('.runtime/versions')).length).toBeLessThanOrEqual(2);
}, 300_000);

/** When it is killed: at the beginning of a phase, or so many ms into it. */
const moments: [string, number][] = [
  ['keeping', 0],
  ['preparing', 0],
  ['preparing', 500],
  ['dry-run', 0],
  ['dry-run', 1500],
  ['waiting', 0],
  ['trying', 400],
  ['trying', 2000],
  ['confirmed', 0],
];
test.each(isThorough ? moments : [])(
  'after a kill in "%s" after %i ms a complete version runs, and the next update completes',
  async (name, delayMs) => {
    const goal = await next();
    await killing.killWhen(goal, () => killing.hasReached(name), delayMs);
    await killing.isBroughtToAnEnd(goal);
  },
  180_000,
);

testUnless(unlessAsked('UPDATE_KILLS=200', isThorough))(
  `${kills} kills at random moments, every third of all processes, leave one complete version that can be updated`,
  () => killing.killAtRandom(talker.answered),
  kills * 60_000 + 120_000,
);

test('every message sent meanwhile is in the history once, with its answer', async () => {
  expect(await talker.end()).toEqual([]);
  const answered = talker.answered();
  expect(answered).toBeGreaterThan(10);
  process.stderr.write(`${answered} messages, each once and answered\n`);
}, 60_000);
