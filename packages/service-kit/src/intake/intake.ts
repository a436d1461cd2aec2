import { rmSync } from 'node:fs';
import { counted } from '../words.ts';
import { dataPaths } from '../config/data-dir.ts';
import { queueFull, type ServiceError } from '../service-error.ts';
import { ByteBudget } from './byte-budget.ts';

const mib = 1024 * 1024;

/** What a process holds of what others send, over all requests and links. */
export const intakeLimits = {
  /** Of each body or line, not counted: the number of connections bounds it. */
  freeBytes: 64 * 1024,
  /** A body past this goes to the disk while it comes; a smaller one too when memory is scarce. */
  inMemoryBytes: mib,
  /** Bodies in memory: those that come, and those whose request is not answered yet. */
  memoryBytes: 48 * mib,
  /** Of it, for those that come. */
  comingBytes: 16 * mib,
  diskBytes: 1024 * mib,
  /** What was accepted and is not done, whether its sender still waits or not. */
  workBytes: 128 * mib,
  /** How long a body that came whole waits for memory, ms. */
  waitMs: 30_000,
} as const;

export type IntakeLimits = { -readonly [Name in keyof typeof intakeLimits]: number };

export type Intake = {
  limits: IntakeLimits;
  memory: ByteBudget;
  disk: ByteBudget;
  work: ByteBudget;
  /** Where bodies lie while they come. */
  dir: string;
  /** The refusal of what does not fit now; counted for `fault`. */
  full(): ServiceError;
  /** One line for /health while something was refused within the last minute; null otherwise. */
  fault(): string | null;
};

const shownMs = 60_000;

/** The budget of one process for what it receives. Several processes may share the folder. */
export function createIntake(dataDir: string, limits: IntakeLimits = intakeLimits): Intake {
  const dir = dataPaths(dataDir).bodies;
  // Files have no names there, but for one that a kill caught between its two first steps.
  rmSync(dir, { recursive: true, force: true });
  let refusals = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  const isShown = () => performance.now() - lastAt < shownMs;
  return {
    limits,
    memory: new ByteBudget(limits.memoryBytes),
    disk: new ByteBudget(limits.diskBytes),
    work: new ByteBudget(limits.workBytes),
    dir,
    full() {
      if (!isShown()) refusals = 0;
      refusals++;
      lastAt = performance.now();
      return queueFull('Too much is being received at once. Send this again in a moment.', 5);
    },
    fault: () =>
      isShown()
        ? `${counted(refusals, 'request')} ${refusals === 1 ? 'was' : 'were'} refused, because too much came at once`
        : null,
  };
}
