import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { signalGroup } from '@svc/service-kit/process/process-group.ts';
import { within } from '@svc/service-kit/within.ts';
import { updatePlaces } from '@svc/service-kit/update/update-places.ts';
import { foreignEnv } from '../update/program-env.ts';
import { holdLifeline, lifelineVariable, prepareMs, type Lifeline, type LifelineKind } from './lifeline.ts';

/** The supervisor that runs next, started in advance: its processes load their code, and begin when the previous ones have ended. */
export type NextUp = {
  /** Resolves when it stands by, or has failed to. */
  settled: Promise<void>;
  /** Tells it to start, and returns it. Null when it does not stand by: then another must be started. */
  take(): ChildProcess | null;
  end(): void;
};

/** `svc up` in its own process group: a terminal's signal reaches it once, through us. */
export function startUp(svc: string, kind: LifelineKind): ChildProcess {
  return spawn(svc, ['up'], {
    env: { ...foreignEnv(), [lifelineVariable]: kind },
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  });
}

/** Starts the version that the pointer names in advance. */
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

/** A version without this feature would start at once. */
function canStandBy(home: string): boolean {
  const { pointer } = updatePlaces(home);
  return existsSync(path.join(existsSync(pointer) ? pointer : home, 'apps/cli/src/up/stand-by.ts'));
}

/** Prepares the successor: in this process, when it will be the parent, or through its own parent. */
export type Successor = {
  /** Never rejects. */
  prepare(): Promise<void>;
  /** The successor that this process has prepared; null when there is none. */
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
