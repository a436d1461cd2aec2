import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { signalGroup } from '@svc/service-kit/process/process-group.ts';
import { runningUpdate } from '@svc/service-kit/update/update-files.ts';
import { updatePlaces, type UpdatePlaces } from '@svc/service-kit/update/update-places.ts';
import { print } from '../terminal.ts';
import { readTrial, revertTrial } from '../update/pointer.ts';
import { holdLifeline } from './lifeline.ts';
import { startNext, startUp, type NextUp } from './next-up.ts';

/** Exit code of a supervisor that is to be started again, as the version that the pointer names. */
export const againCode = 75;

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Longer than any check of an abandoned trial takes to come: by the updater, or every quarter of an hour by the collector. */
const longestTrialMs = 40 * 60_000;
/** For a supervisor that was asked to stop. */
const stopMs = 60_000;

/**
 * Keeps one process for the terminal or service manager while the version below it changes: starts `svc up` of the version that the pointer
 * names, again when it asks for a restart, and rolls back a version on trial that exits or is not confirmed within `trialMs`. `next`: the first
 * one, when it is already standing by.
 * All its code is loaded at the beginning, because files of its own version may be replaced. Returns the exit code of the last one.
 */
export async function launch(home: string, { trialMs = longestTrialMs, next = null }: LaunchOptions = {}): Promise<number> {
  const places = updatePlaces(home);
  for (let waiting = next; ;) {
    const isOnTrial = readTrial(places) !== null;
    const {
      code,
      wasAsked,
      next: prepared,
    } = await runOnce({ home, places, trialMs, child: waiting?.take() ?? startUp(path.join(home, 'svc'), 'talks') });
    waiting = code === againCode && !wasAsked ? prepared : null;
    if (waiting === null) prepared?.end();
    if (code === againCode && !wasAsked) continue;
    if (wasAsked || code === exitCodes.ok) return code;
    if (!revertTrial(places, `The new version ended with exit code ${code}.`) && !(isOnTrial && existsSync(places.reverted)))
      return code; // neither taken back now, nor by who updates
    print(`The new version ended with exit code ${code}. The previous one is started again.`);
  }
}

type LaunchOptions = { trialMs?: number; next?: NextUp | null };

type Run = { home: string; places: UpdatePlaces; trialMs: number; child: ChildProcess };

async function runOnce({ home, places, trialMs, child }: Run): Promise<{ code: number; wasAsked: boolean; next: NextUp | null }> {
  let wasAsked = false;
  let next: NextUp | null = null;
  const onSignal = (signal: NodeJS.Signals) => {
    wasAsked = true;
    child.kill(signal);
  };
  const lifeline = holdLifeline(child);
  lifeline?.onPrepare(() => {
    next = startNext(home);
    void next.settled.then(lifeline.sayReady);
  });
  const endTrial = setInterval(() => endLateTrial(child, places), trialMs);
  for (const signal of signals) process.on(signal, onSignal);
  try {
    return { code: await exitOf(child), wasAsked, next };
  } finally {
    clearInterval(endTrial);
    for (const signal of signals) process.removeListener(signal, onSignal);
  }
}

/** A version that is still not confirmed does not work well enough to confirm itself. An update in progress is not disturbed. */
function endLateTrial(child: ChildProcess, places: UpdatePlaces): void {
  if (runningUpdate(places) !== null || !revertTrial(places, 'The new version was not confirmed to work in time.')) return;
  print('The new version was not confirmed to work in time. The previous one is started again.');
  child.kill('SIGUSR2');
  const force = setTimeout(() => signalGroup(child, 'SIGKILL'), stopMs);
  child.once('exit', () => clearTimeout(force));
}

const exitOf = (child: ChildProcess): Promise<number> =>
  new Promise((resolve) => {
    child.once('error', (error) => {
      print(`The service could not be started: ${error.message}`);
      resolve(exitCodes.failed);
    });
    child.once('exit', (code, signal) => resolve(code ?? (signal === null ? exitCodes.failed : killedCode)));
  });

/** The exit code that shells use for SIGKILL. */
const killedCode = 137;
