import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { expect } from 'vitest';
import { phases, readJournal, type Phase } from '../src/update/journal.ts';
import { updateCodes } from '../src/update/update-outcome.ts';
import { updatePlaces } from '@svc/service-kit/update/update-places.ts';
import { createRandom } from '@svc/testing/random.ts';
import { until } from '@svc/testing/until.ts';
import type { InstalledHouse } from './installed-house.ts';

/** Kills at random moments, beside the chosen ones. Each takes about 15 s; a thorough run asks for 200, and has more chosen moments and full disks. */
export const kills = Number(process.env['UPDATE_KILLS'] ?? 1);
export const isThorough = kills > 1;
const seed = Number(process.env['UPDATE_KILLS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
/** Within the longest that an update takes here; some come too late to kill anything. */
const mostMs = Number(process.env['UPDATE_KILLS_WITHIN_MS'] ?? 9000);

/** A version that the installation can come to, and what is typed for it. */
export type Goal = { commit: string; version: string; args: readonly string[] };

/** An installation whose updates are killed. */
export type Victim = {
  house: InstalledHouse;
  /** Another version than the one that runs. */
  next(): Promise<Goal>;
  /** Whether it is a version that may run. */
  isKnown(commit: string): boolean;
  /** Of the version that the folder itself is brought to at the end. */
  settledVersion(): string;
};

/** What kills updates and looks at what is left. */
export type UpdateKills = {
  phase(): Phase | null;
  /** Whether an update is in this phase or past it: short ones may be over before they are seen. */
  hasReached(name: string): boolean;
  /** One whole version runs, the same in all processes. */
  isWhole(): Promise<boolean>;
  runsOn(commit: string): Promise<boolean>;
  /** One whole version runs, and the next update to the same says what was left and brings it to an end. */
  isBroughtToAnEnd(goal: Goal): Promise<void>;
  /** Kills an update when something is so, which has to be before it ends. */
  killWhen(goal: Goal, is: () => boolean, delayMs?: number): Promise<void>;
  /** As often as was asked for; `said`: how often a caller was answered. */
  killAtRandom(said: () => number): Promise<void>;
};

/** Asks the service less often than `until`: each time is work of three processes. */
export const becomes = (is: () => Promise<boolean>): Promise<void> =>
  expect.poll(is, { interval: 100, timeout: 60_000 }).toBe(true);

export function createUpdateKills({ house, next, isKnown, settledVersion }: Victim): UpdateKills {
  const places = updatePlaces(house.root);
  const phase = (): Phase | null => readJournal(places)?.phase ?? null;
  const isWhole = async (): Promise<boolean> => {
    const shas = new Set(await house.shas());
    return shas.size === 1 && isKnown([...shas][0] ?? '');
  };
  const runsOn = async (commit: string): Promise<boolean> => (await house.shas()).every((sha) => sha === commit);

  async function isBroughtToAnEnd({ commit, version, args }: Goal): Promise<void> {
    await becomes(isWhole);
    let [left, code, out]: [Phase | null, number | null, string] = [null, null, ''];
    // The service repairs an interrupted update by itself, and holds the lock meanwhile.
    await until(async () => {
      left = phase();
      ({ code, out } = await house.svc(args));
      return code !== updateCodes.busy;
    }, 60_000);
    expect([0, 4], out).toContain(code);
    expect(out).toMatch(left === null ? /is already installed|did not run|Updated from/ : /interrupted|did not run/);
    await becomes(() => runsOn(commit));
    expect(phase()).toBeNull();
    expect(existsSync(places.trial)).toBe(false);
    expect(settledVersion()).toBe(version);
  }

  async function killWhen({ args }: Goal, is: () => boolean, delayMs = 0): Promise<void> {
    const updater = house.spawn(args);
    await until(() => is() || updater.exitCode !== null, 120_000);
    expect(updater.exitCode).toBeNull();
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    updater.kill('SIGKILL');
    if (updater.exitCode === null && updater.signalCode === null) await once(updater, 'exit');
    await becomes(isWhole);
  }

  async function killOnce(n: number, afterMs: number): Promise<string> {
    const goal = await next();
    const withAll = n % 3 === 0;
    const updater = house.spawn(goal.args);
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    const at = updater.exitCode === null ? (phase() ?? 'before') : 'over';
    updater.kill('SIGKILL');
    if (withAll) house.killAll();
    if (updater.exitCode === null && updater.signalCode === null) await once(updater, 'exit');
    if (withAll) await house.up();
    const what = `seed ${seed}, kill ${n} in "${at}" after ${afterMs} ms${withAll ? ', with all' : ''}`;
    await isBroughtToAnEnd(goal).catch((error: unknown) => {
      throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
    });
    if (kills > 5) process.stderr.write(`${what}\n`);
    return `${at}${withAll ? ' (all)' : ''}`;
  }

  return {
    phase,
    hasReached: (name) => phases.indexOf(phase() as Phase) >= phases.indexOf(name as Phase),
    isWhole,
    runsOn,
    isBroughtToAnEnd,
    killWhen,
    async killAtRandom(said) {
      const random = createRandom(seed);
      const tally: Record<string, number> = {};
      for (let n = 1; n <= kills; n += 1) {
        const place = await killOnce(n, Math.floor(random() * mostMs));
        tally[place] = (tally[place] ?? 0) + 1;
      }
      if (kills > 5) process.stderr.write(`${JSON.stringify({ kills, answered: said(), tally })}\n`);
    },
  };
}
