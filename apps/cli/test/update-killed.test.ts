import { existsSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { phases, type Phase } from '../src/update/journal.ts';
import { createRandom } from '@svc/testing/random.ts';
import { openUpdateHouse, until, type UpdateHouse } from './update-house.ts';
import { mountSmallDisk } from './update-faults.ts';
import { startTalker, type Talker } from './update-talker.ts';

/** Kills at random moments, beside the chosen ones. Each takes about 15 s; a thorough run asks for 200, and has more chosen moments and full disks. */
const kills = Number(process.env['UPDATE_KILLS'] ?? 1);
const isThorough = kills > 1;
const seed = Number(process.env['UPDATE_KILLS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
/** Within the longest that an update takes here; some come too late to kill anything. */
const mostMs = Number(process.env['UPDATE_KILLS_WITHIN_MS'] ?? 9000);

let house: UpdateHouse;
let talker: Talker;
let commits: string[] = [];

beforeAll(async () => {
  house = await openUpdateHouse();
  commits = [house.release('v0.2.0', {}), house.remote.git(['rev-parse', 'v0.1.0'])];
  await house.up();
  talker = startTalker(house.coreUrl);
}, 120_000);
afterAll(async () => {
  await house.close();
}, 180_000);

const phase = (): string | null => {
  const file = house.file('.runtime/update/journal.json');
  try {
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { phase: string }).phase : null;
  } catch {
    return null; // gone in between
  }
};

/** Short phases may be over before they are seen. */
const hasReached = (name: string): boolean => phases.indexOf(phase() as Phase) >= phases.indexOf(name as Phase);

/** One whole version, the same in all three processes. */
const isWhole = async (): Promise<boolean> => {
  const shas = new Set(await house.shas());
  return shas.size === 1 && commits.includes([...shas][0] ?? '');
};

const runsOn = async (commit: string): Promise<boolean> => (await house.shas()).every((sha) => sha === commit);

/** When it is killed: at the beginning of a phase, or so many ms into it. */
const moments: [string, number][] = [
  ['keeping', 0],
  ['dry-run', 1500],
  ['trying', 0],
  ['trying', 2000],
  ['confirmed', 0],
  ['settling', 50],
  ...(isThorough
    ? ([
        ['preparing', 300],
        ['trying', 400],
      ] as [string, number][])
    : []),
];

const other = async () => ((await runsOn(commits[0] ?? '')) ? 'v0.1.0' : 'v0.2.0');
const commitOf = (tag: string) => commits[tag === 'v0.2.0' ? 0 : 1] ?? '';

/** One whole version runs, and the next update to the same says what was left and brings it to an end. */
async function isBroughtToAnEnd(to: string): Promise<void> {
  await until(isWhole, 60_000);
  const { code, out } = await house.svc(['update', '--ref', to]);
  expect([0, 4], out).toContain(code);
  expect(out).toMatch(/cut off|is what is installed|did not run|Updated from/);
  await until(() => runsOn(commitOf(to)), 30_000);
  expect(phase()).toBeNull();
  expect(existsSync(house.file('.runtime/update/trial'))).toBe(false);
  expect(readFileSync(house.file('VERSION'), 'utf8').trim()).toBe(to.slice(1));
}

test.each(moments)(
  'killed in "%s" after %i ms, one whole version runs, and the next update brings it to an end',
  async (name, delayMs) => {
    const to = await other();
    const updater = house.spawn(['update', '--ref', to]);
    await until(() => hasReached(name) || updater.exitCode !== null, 60_000);
    expect(updater.exitCode).toBeNull();
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    updater.kill('SIGKILL');
    await once(updater, 'close');
    await until(isWhole, 60_000);
    if (delayMs === 0) {
      const repaired = await house.svc(['update', '--repair']);
      expect(repaired).toMatchObject({ code: 0, out: expect.stringMatching(/cut off|did not run/) });
      expect(phase()).toBeNull();
      expect(await house.svc(['update', '--repair'])).toMatchObject({
        code: 0,
        out: expect.stringContaining('nothing to repair'),
      });
    }
    await isBroughtToAnEnd(to);
  },
  180_000,
);

test(
  `killed ${kills} times at random moments, every third time with all the processes there are: one whole version runs, and the next update goes on`,
  async () => {
    const random = createRandom(seed);
    const tally: Record<string, number> = {};
    for (let n = 1; n <= kills; n += 1) {
      const to = await other();
      const [withAll, afterMs] = [n % 3 === 0, Math.floor(random() * mostMs)];
      const updater = house.spawn(['update', '--ref', to]);
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      const at = updater.exitCode === null ? (phase() ?? 'before') : 'over';
      updater.kill('SIGKILL');
      if (withAll) house.killAll();
      if (updater.exitCode === null && updater.signalCode === null) await once(updater, 'exit');
      if (withAll) await house.up();
      const what = `seed ${seed}, kill ${n} in "${at}" after ${afterMs} ms${withAll ? ', with all' : ''}`;
      await isBroughtToAnEnd(to).catch((error: unknown) => {
        throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
      });
      const place = `${at}${withAll ? ' (all)' : ''}`;
      tally[place] = (tally[place] ?? 0) + 1;
      if (kills > 5) process.stderr.write(`${what}\n`);
    }
    if (kills > 5) process.stderr.write(`${JSON.stringify({ kills, answered: talker.answered(), tally })}\n`);
  },
  kills * 60_000 + 120_000,
);

test('all that was said meanwhile is in the history once, with its answer', async () => {
  expect(await talker.end()).toEqual([]);
  expect(talker.answered()).toBeGreaterThan(10);
}, 60_000);

/** What the machine fails with, and how an update ends then. Nothing of it is the version's fault, so it may be tried again. */
describe('where the machine fails', () => {
  const tag = 'v0.3.0';
  const runsWhole = () => until(isWhole, 60_000);
  const lastRefused = (): string | null => {
    const last = house.file('.runtime/update/last.json');
    return existsSync(last) ? (JSON.parse(readFileSync(last, 'utf8')) as { refused: string | null }).refused : null;
  };

  test('a remote that is away, or goes away in the middle of a fetch, changes nothing', async () => {
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
      expect([from, code, out]).toEqual([from, 3, expect.stringMatching(/cannot be (?:asked|fetched)/)]);
      expect(phase()).toBeNull();
      await runsWhole();
    }
  }, 60_000);

  test('a package registry that is away is no fault of the version', async () => {
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
  test.each([...disks, ...(isThorough ? more : [])])(
    'a full disk of %s: one whole version runs, and the next update goes on',
    async (_what, folder, megabytes, fullIn, codes) => {
      const to = await other();
      const disk = mountSmallDisk(house.file(folder), megabytes);
      if (typeof disk === 'string') return void process.stderr.write(`not tried: ${disk}\n`);
      let ran = { code: -1, out: '' };
      try {
        const running = house.svc(['update', '--ref', to]);
        if (fullIn !== null) {
          await until(() => hasReached(fullIn), 60_000);
          disk.fill();
        }
        ran = await running;
      } finally {
        disk.remove();
      }
      expect(codes, ran.out).toContain(ran.code);
      await isBroughtToAnEnd(to);
    },
    120_000,
  );
});
