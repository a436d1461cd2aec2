import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { signalGroup } from '@svc/service-kit/process/process-group.ts';
import { within } from '@svc/service-kit/within.ts';
import { updatePlaces } from '@svc/service-kit/update/update-places.ts';
import { foreignEnv } from '../update/program-env.ts';
import { holdLifeline, lifelineVariable, prepareMs, type Lifeline, type LifelineKind } from './lifeline.ts';

/** What runs next, started ahead: its processes load their code, and begin when the ones before have ended. */
export type NextUp = {
  /** Resolves when it stands by, or will not. */
  settled: Promise<void>;
  /** Tells it to begin, and gives it. Null when it does not stand by: then another has to be started. */
  take(): ChildProcess | null;
  end(): void;
};

/** `svc up` in a group of its own: a signal of the terminal comes once, from us. */
export function startUp(svc: string, kind: LifelineKind): ChildProcess {
  return spawn(svc, ['up'], {
    env: { ...foreignEnv(), [lifelineVariable]: kind },
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  });
}

/** Starts the version that the pointer names, ahead of its time. */
export function startNext(home: string): NextUp {
  if (!canStandBy(home)) return { settled: Promise.resolve(), take: () => null, end: () => undefined };
  const child = startUp(path.join(home, 'svc'), 'waits');
  const lifeline = holdLifeline(child);
  let standsBy = false;
  const stoodBy = lifeline?.stoodBy.then(() => void (standsBy = true));
  const gone = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  }).then(() => void (standsBy = false));
  const end = () => void signalGroup(child, 'SIGKILL');
  return {
    settled: within(Promise.race([gone, stoodBy]), prepareMs).then(() => undefined),
    take() {
      if (standsBy) lifeline?.sayGo();
      else end();
      return standsBy ? child : null;
    },
    end,
  };
}

/** A version from before there was such a thing would start at once. */
function canStandBy(home: string): boolean {
  const { pointer } = updatePlaces(home);
  return existsSync(path.join(existsSync(pointer) ? pointer : home, 'apps/cli/src/up/stand-by.ts'));
}

/** Has what comes next prepared: by this process, which will keep it, or by the one that keeps this one. */
export type Successor = {
  /** Never rejects. */
  prepare(): Promise<void>;
  /** What this process has prepared; null when nothing is. */
  take(): NextUp | null;
};

export function createSuccessor(home: string, lifeline: Lifeline | null): Successor {
  let next: NextUp | null = null;
  return {
    async prepare() {
      if (lifeline?.kind === 'ends') return; // nobody listens there
      if (lifeline !== null) return lifeline.prepareNext();
      next = startNext(home);
      await next.settled;
    },
    take: () => next,
  };
}
