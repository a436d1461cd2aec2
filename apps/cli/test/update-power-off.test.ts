import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { mountLossyDisk, type LossyDisk } from '@svc/testing/lossy-disk.ts';
import { createRandom } from '@svc/testing/random.ts';
import { skipNote, unlessAsked } from '@svc/testing/skip-note.ts';
import { until } from '@svc/testing/until.ts';
import type { InstalledHouse } from './installed-house.ts';
import { commitOf, openArchiveUpdateHouse } from './update-archive-house.ts';
import { openUpdateHouse } from './update-house.ts';
import { createUpdateKills, type Goal, type UpdateKills, type Victim } from './update-kills.ts';
import { startTalker } from './update-talker.ts';

/** Beside the chosen moments. */
const cuts = Number(process.env['UPDATE_POWER_CUTS'] ?? 0);
const seed = Number(process.env['UPDATE_KILLS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const mostMs = Number(process.env['UPDATE_KILLS_WITHIN_MS'] ?? 9000);
const isWanted = cuts > 0 || process.env['SVC_TEST_HEAVY'] !== undefined;
const diskMb = 4000;

type Opened = Victim & { close(): Promise<void> | void };

async function openClone(at: string): Promise<Opened> {
  const house = await openUpdateHouse({ at });
  const commits = new Map([
    ['v0.1.0', house.remote.git(['rev-parse', 'v0.1.0'])],
    ['v0.2.0', house.release('v0.2.0', {})],
  ]);
  return {
    house,
    async next() {
      const tag = (await house.shas()).every((sha) => sha === commits.get('v0.2.0')) ? 'v0.1.0' : 'v0.2.0';
      return { commit: commits.get(tag) ?? '', version: tag.slice(1), args: ['update', '--ref', tag] };
    },
    isKnown: (commit) => [...commits.values()].includes(commit),
    settledVersion: () => readFileSync(house.file('VERSION'), 'utf8').trim(),
    close: () => house.close(),
  };
}

async function openArchive(at: string): Promise<Opened> {
  const house = await openArchiveUpdateHouse(at);
  const known = new Set([commitOf('0.1.0')]);
  return {
    house,
    async next() {
      const version = `0.2.${known.size}`;
      const commit = await house.release(version);
      known.add(commit);
      return { commit, version, args: ['update'] };
    },
    isKnown: (commit) => known.has(commit),
    settledVersion: () => readFileSync(house.file('.runtime/current/VERSION'), 'utf8').trim(),
    close: () => house.close(),
  };
}

type IsMoment = (goal: Goal, killing: UpdateKills, house: InstalledHouse) => boolean;

/** Right after a write that later steps rely on: a version is marked complete, is put in place, the update has ended. */
const moments: IsMoment[] = [
  ({ commit }, _killing, house) => existsSync(house.file('.runtime/versions', commit, '.svc-whole')),
  (_goal, killing) => killing.hasReached('trying'),
  () => false, // when the update is over
];

const why = unlessAsked('SVC_TEST_HEAVY=1 or UPDATE_POWER_CUTS=20', isWanted);
describe.skipIf(why !== null)(`a power failure in an update${skipNote(why)}`, () => {
  test.each([
    ['a clone', openClone],
    ['an archive', openArchive],
  ])(
    'of %s: a complete version starts, the next update completes, and SVC_DURABILITY=full keeps everything acknowledged',
    async (what, open) => {
      const disk = mountLossyDisk(diskMb);
      if (typeof disk === 'string') return void process.stderr.write(`not tried: ${disk}\n`);
      onTestFinished(() => disk.remove());
      mkdirSync(path.join(disk.folder, 'own'));
      const victim = await open(path.join(disk.folder, 'own'));
      onTestFinished(() => victim.close());
      victim.house.env['SVC_DURABILITY'] = 'full';
      const killing = createUpdateKills(victim);
      await victim.house.up();
      disk.sync();
      const talker = startTalker(victim.house.coreUrl);
      const random = createRandom(seed);
      for (const is of moments) await cutWhen(victim, killing, disk, is, what);
      for (let n = 1; n <= cuts; n += 1) {
        const at = performance.now() + random() * mostMs;
        await cutWhen(victim, killing, disk, () => performance.now() > at, what);
      }
      expect(await talker.end()).toEqual([]);
      process.stderr.write(`${what}: ${moments.length + cuts} cuts, ${talker.answered()} messages answered (seed ${seed})\n`);
    },
    600_000 + cuts * 120_000,
  );
});

async function cutWhen(
  { house, next }: Victim,
  killing: UpdateKills,
  disk: LossyDisk,
  is: IsMoment,
  what: string,
): Promise<void> {
  const goal = await next();
  const updater = house.spawn(goal.args);
  const exited = once(updater, 'exit');
  await until(() => is(goal, killing, house) || updater.exitCode !== null, 120_000);
  const at = updater.exitCode === null ? (killing.phase() ?? 'before') : 'over';
  house.killAll(() => disk.cutPower());
  await exited;
  await disk.restore();
  await house.up().catch((error: unknown) => {
    throw new Error(`${what}, cut in "${at}": it does not start. ${house.output()}`, { cause: error });
  });
  await killing.isBroughtToAnEnd(goal).catch((error: unknown) => {
    throw new Error(`${what}, cut in "${at}": ${(error as Error).message}`, { cause: error });
  });
  process.stderr.write(`${what}: power cut in "${at}"\n`);
}
