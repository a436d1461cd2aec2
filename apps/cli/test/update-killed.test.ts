import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isAlive } from '@svc/service-kit/process/signal-process.ts';
import { until } from '@svc/testing/until.ts';
import { openUpdateHouse, type UpdateHouse } from './update-house.ts';
import { mountSmallDisk } from './update-faults.ts';
import { becomes, createUpdateKills, isThorough, kills, type Goal, type UpdateKills } from './update-kills.ts';
import { startTalker, type Talker } from './update-talker.ts';

let house: UpdateHouse;
let killing: UpdateKills;
let talker: Talker;
let commits: string[] = [];

const commitOf = (tag: string) => commits[tag === 'v0.2.0' ? 0 : 1] ?? '';
const goalOf = (tag: string): Goal => ({ commit: commitOf(tag), version: tag.slice(1), args: ['update', '--ref', tag] });
const other = async () => goalOf((await killing.runsOn(commitOf('v0.2.0'))) ? 'v0.1.0' : 'v0.2.0');

beforeAll(async () => {
  house = await openUpdateHouse();
  commits = [house.release('v0.2.0', {}), house.remote.git(['rev-parse', 'v0.1.0'])];
  killing = createUpdateKills({
    house,
    next: other,
    isKnown: (commit) => commits.includes(commit),
    settledVersion: () => readFileSync(house.file('VERSION'), 'utf8').trim(),
  });
  await house.up();
  talker = startTalker(house.coreUrl);
}, 120_000);
afterAll(async () => {
  await house.close();
}, 180_000);

/** When it is killed: at the beginning of a phase, or so many ms into it; and whether `--repair` is called then, which decides what runs. */
type Moment = [phase: string, delayMs: number, then?: 'repair'];
/** One after the other: the next update goes on after each kill, the last one to the end. */
const moments: Moment[][] = [
  [
    ['keeping', 0, 'repair'],
    ['dry-run', 1500],
    ['trying', 0, 'repair'],
    ['trying', 2000],
  ],
  [
    ['confirmed', 0],
    ['settling', 50],
  ],
  ...(isThorough
    ? ([
        [['confirmed', 0, 'repair']],
        [['settling', 50]],
        [['preparing', 300]],
        [['dry-run', 1500]],
        [['trying', 400]],
        [['trying', 2000]],
      ] satisfies Moment[][])
    : []),
];

test.each(moments.map((some) => ({ some, names: some.map(([phase, delayMs]) => `${phase} + ${delayMs}`).join(', ') })))(
  'killed at $names ms, the update leaves one complete version running, and the next update finishes it',
  async ({ some }) => {
    let goal = await other();
    for (const [name, delayMs, then] of some) {
      await killing.killWhen(goal, () => killing.hasReached(name), delayMs);
      if (then === undefined) continue;
      await isRepaired();
      // Whatever it brought to an end: one that went on goes to the other version next.
      goal = await other();
    }
    await killing.isBroughtToAnEnd(goal);
  },
  240_000,
);

async function isRepaired(): Promise<void> {
  const repaired = await house.svc(['update', '--repair']);
  expect(repaired).toMatchObject({ code: 0, out: expect.stringMatching(/interrupted|did not run/) });
  expect(killing.phase()).toBeNull();
  expect(await house.svc(['update', '--repair'])).toMatchObject({
    code: 0,
    out: expect.stringContaining('nothing to repair'),
  });
}

const lastRefused = (): string | null => {
  const last = house.file('.runtime/update/last.json');
  return existsSync(last) ? (JSON.parse(readFileSync(last, 'utf8')) as { refused: string | null }).refused : null;
};

test('a service ended by SIGINT or SIGKILL during the switch stays ended, without delay, and no version is blamed', async () => {
  const goal = await other();
  for (const signal of ['SIGINT', 'SIGKILL'] as const) {
    const before = house.state()?.pid;
    const updating = house.svc(goal.args);
    // With Ctrl-C the version that is tried has begun.
    const isTime = () =>
      killing.hasReached('trying') && (signal === 'SIGKILL' || ![before, undefined].includes(house.state()?.pid));
    await until(isTime, 120_000);
    house.endForeground(signal);
    const ended = performance.now();
    expect(await updating).toEqual({ code: 3, out: expect.stringContaining('The service was stopped during the switch') });
    expect(performance.now() - ended).toBeLessThan(20_000);
    expect([killing.phase(), lastRefused()]).toEqual([null, null]);
    await until(() => !isAlive(house.state()?.pid), 30_000);
    expect(house.isInForeground()).toBe(false);
    await house.up();
    await becomes(killing.isWhole);
  }
}, 300_000);

test(
  `after ${kills} kills at random moments (every third: all processes) a complete version runs, and the next update completes`,
  () => killing.killAtRandom(talker.answered),
  kills * 60_000 + 120_000,
);

test('every message sent meanwhile is in the history once, with its answer', async () => {
  expect(await talker.end()).toEqual([]);
  const answered = talker.answered();
  expect(answered).toBeGreaterThan(10);
  process.stderr.write(`${answered} messages, each once and answered\n`);
}, 60_000);

/** Faults of the machine, and how an update ends then. They are not the fault of the version, so it may be tried again. */
describe('failures of the machine', () => {
  const tag = 'v0.3.0';
  const runsWhole = () => becomes(killing.isWhole);

  test('an unreachable remote, or one that disconnects during a fetch, changes nothing', async () => {
    house.release(tag, {});
    let asked = 0;
    const cut = (from: number) =>
      house.server.answerWith(({ socket }) => {
        asked += 1;
        if (asked >= from) socket.destroy();
        return asked < from ? Promise.resolve() : undefined;
      });
    for (const from of [1, 2, 5, 7]) {
      asked = 0;
      cut(from);
      const { code, out } = await house.svc(['update', '--ref', tag]);
      house.server.answerWith(null);
      expect([from, code, out]).toEqual([from, 3, expect.stringMatching(/cannot be (?:reached|fetched)/)]);
      expect(killing.phase()).toBeNull();
      await runsWhole();
    }
  }, 60_000);

  test('a version is not blamed for an unreachable package registry', async () => {
    const other = 'v0.3.1';
    const refused = house.release(other, {
      // Another package: what is here does not do.
      'package-lock.json': (text) => text.replace(/("node_modules\/yaml": \{\s+"version": )"[^"]+"/, '$1"0.0.0"'),
    });
    const away = { npm_config_registry: 'http://127.0.0.1:9', npm_config_fetch_retries: '0' };
    const { code, out } = await house.svc(['update', '--ref', other], away);
    expect([code, out]).toEqual([3, expect.stringContaining('could not be prepared')]);
    expect(lastRefused()).not.toBe(refused);
    await runsWhole();
  }, 60_000);

  type FullDisk = [what: string, folder: string, megabytes: number, fullIn: string | null, codes: number[]];
  /** Of a size, and filled up as soon as the update has come to a phase. */
  const disks: FullDisk[] = [
    ['the versions, while one is put there', '.runtime/versions', 8, null, [3]],
    ['the update, while it takes over', '.runtime/update', 700, 'trying', [0, 3]],
  ];
  const more: FullDisk[] = [
    ['the update, before the version is tried', '.runtime/update', 8, null, [3]],
    ['the update, while the version is tried', '.runtime/update', 700, 'dry-run', [3]],
    ['the update, once it stays', '.runtime/update', 700, 'confirmed', [0, 3]],
  ];
  const endsWhole = async (goal: Goal, [, folder, megabytes, fullIn, codes]: FullDisk) => {
    const disk = mountSmallDisk(house.file(folder), megabytes);
    if (typeof disk === 'string') return void process.stderr.write(`not tried: ${disk}\n`);
    let ran = { code: -1, out: '' };
    try {
      const running = house.svc(goal.args);
      if (fullIn !== null) {
        await until(() => killing.hasReached(fullIn), 60_000);
        disk.fill();
      }
      ran = await running;
    } finally {
      disk.remove();
    }
    expect(codes, ran.out).toContain(ran.code);
    await becomes(killing.isWhole);
  };
  // In the usual run the next update is the one on the next disk, which has to get further.
  const disksInARow = isThorough ? [...disks, ...more].map((disk) => [disk]) : [disks];
  test.each(disksInARow.map((some) => ({ some, names: some.map(([what]) => what).join('; then of ') })))(
    'a full disk of $names: one whole version runs, and the next update goes on',
    async ({ some }) => {
      const goal = await other();
      for (const disk of some) await endsWhole(goal, disk);
      await killing.isBroughtToAnEnd(goal);
    },
    180_000,
  );
});
