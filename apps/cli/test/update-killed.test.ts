import { existsSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { phases, type Phase } from '../src/update/journal.ts';
import { openUpdateHouse, until, type UpdateHouse } from './update-house.ts';

let house: UpdateHouse;
let commits: string[] = [];

beforeAll(async () => {
  house = await openUpdateHouse();
  commits = [house.release('v0.2.0', {}), house.remote.git(['rev-parse', 'v0.1.0'])];
  await house.up();
}, 120_000);
afterAll(() => house.close(), 60_000);

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
  ['preparing', 300],
  ['dry-run', 1500],
  ['trying', 0],
  ['trying', 400],
  ['trying', 2000],
  ['confirmed', 0],
  ['settling', 50],
];

test.each(moments)(
  'killed in "%s" after %i ms, one whole version runs, and the next update brings it to an end',
  async (name, delayMs) => {
    const to = (await runsOn(commits[0] ?? '')) ? 'v0.1.0' : 'v0.2.0';
    const wanted = commits[to === 'v0.2.0' ? 0 : 1] ?? '';
    const updater = house.spawn(['update', '--ref', to]);
    await until(() => hasReached(name) || updater.exitCode !== null, 60_000);
    expect(updater.exitCode).toBeNull();
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    updater.kill('SIGKILL');
    await once(updater, 'close');

    await until(isWhole, 60_000);
    const { code, out } = await house.svc(['update', '--ref', to]);
    expect([0, 4], out).toContain(code);
    expect(out).toMatch(/cut off|is what is installed/);
    await until(() => runsOn(wanted), 30_000);
    expect(phase()).toBeNull();
    expect(existsSync(house.file('.runtime/update/trial'))).toBe(false);
    expect(readFileSync(house.file('VERSION'), 'utf8').trim()).toBe(to.slice(1));
  },
  180_000,
);
