import { spawn, type ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import path from 'node:path';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { takeEnv } from '@svc/service-kit/config/env-file.ts';
import { signalGroup } from '@svc/service-kit/process/process-group.ts';
import { runningUpdate } from '@svc/service-kit/update/update-files.ts';
import { updatePlaces, type UpdatePlaces } from '@svc/service-kit/update/update-places.ts';
import { print } from '../terminal.ts';
import { foreignEnv } from '../update/program-env.ts';
import { revertTrial } from '../update/pointer.ts';

/** Exit code of a supervisor that is to be started again, by the pointer, as another version. */
export const againCode = 75;

/** Set for a supervisor that ends when its end of a pipe is closed: with the process that started it, however that ends. */
export const lifelineVariable = 'GATEWAY_LIFELINE';
const lifelineFd = 3;

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Longer than anything looks at a trial that was left: who updates, and the collector every quarter of an hour. */
const longestTrialMs = 40 * 60_000;
/** For one that was asked to stop. */
const stopMs = 60_000;

/**
 * Keeps the process that a terminal or a service manager knows while versions change below it: starts `svc up` of the version that the pointer
 * names, again when that asks for it, and goes back by itself from one on trial that ends, or that nobody confirms in `trialMs`.
 * Everything it needs is loaded by now: files of its own version may be replaced. Gives the exit code of the last one.
 */
export async function launch(home: string, trialMs = longestTrialMs): Promise<number> {
  const places = updatePlaces(home);
  for (;;) {
    const { code, wasAsked } = await runOnce(home, places, trialMs);
    if (code === againCode && !wasAsked) continue;
    if (wasAsked || code === exitCodes.ok) return code;
    if (!revertTrial(places, `The new version ended with exit code ${code}.`)) return code;
    print(`The new version ended with exit code ${code}. The one before is started again.`);
  }
}

async function runOnce(home: string, places: UpdatePlaces, trialMs: number): Promise<{ code: number; wasAsked: boolean }> {
  const child = startUp(path.join(home, 'svc'));
  let wasAsked = false;
  const onSignal = (signal: NodeJS.Signals) => {
    wasAsked = true;
    child.kill(signal);
  };
  const endTrial = setInterval(() => endLateTrial(child, places), trialMs);
  for (const signal of signals) process.on(signal, onSignal);
  try {
    return { code: await exitOf(child), wasAsked };
  } finally {
    clearInterval(endTrial);
    for (const signal of signals) process.removeListener(signal, onSignal);
  }
}

/** A version that nobody has confirmed by now does not do what confirms it. Who updates is not disturbed. */
function endLateTrial(child: ChildProcess, places: UpdatePlaces): void {
  if (runningUpdate(places) !== null || !revertTrial(places, 'The new version was not confirmed to work in time.')) return;
  print('The new version was not confirmed to work in time. The one before is started again.');
  child.kill('SIGUSR2');
  const force = setTimeout(() => signalGroup(child, 'SIGKILL'), stopMs);
  child.once('exit', () => clearTimeout(force));
}

/** In a group of its own: a signal of the terminal comes once, from us. */
function startUp(svc: string): ChildProcess {
  return spawn(svc, ['up'], {
    env: { ...foreignEnv(), [lifelineVariable]: '1' },
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  });
}

const exitOf = (child: ChildProcess): Promise<number> =>
  new Promise((resolve) => {
    child.once('error', (error) => {
      print(`The service could not be started: ${error.message}`);
      resolve(exitCodes.failed);
    });
    child.once('exit', (code, signal) => resolve(code ?? (signal === null ? exitCodes.failed : killedCode)));
  });

/** As shells count for SIGKILL. */
const killedCode = 137;

/** Resolves when the process that holds the other end is gone; null for one that was started without. */
export function takeLifeline(): Promise<void> | null {
  if (takeEnv(lifelineVariable) === undefined) return null;
  return new Promise((resolve) => {
    const pipe = new Socket({ fd: lifelineFd, readable: true, writable: false });
    pipe.once('error', () => resolve());
    pipe.once('close', () => resolve());
    pipe.resume();
    // It must not keep a process that has nothing else to do.
    pipe.unref();
  });
}
