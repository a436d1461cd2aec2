import { rmSync } from 'node:fs';
import { counted } from '../words.ts';
import { dataPaths } from '../config/data-dir.ts';
import { queueFull, type ServiceError } from '../service-error.ts';
import { ByteBudget } from './byte-budget.ts';

const mib = 1024 * 1024;

/** Limits of received data that a process holds, over all requests and links. */
export const intakeLimits = {
  /** Up to this size a body or line is not counted; the number of connections limits them. */
  freeBytes: 64 * 1024,
  /** A larger body is received to disk; a smaller one too when memory is scarce. */
  inMemoryBytes: mib,
  /** Bodies in memory: those being received, and those whose request is not answered yet. */
  memoryBytes: 48 * mib,
  /** The part of it for bodies being received. */
  comingBytes: 16 * mib,
  diskBytes: 1024 * mib,
  /** Accepted work that is not done, whether or not its sender still waits. */
  workBytes: 128 * mib,
  /** How long a complete body waits for memory, ms. */
  waitMs: 30_000,
} as const;

export type IntakeLimits = { -readonly [Name in keyof typeof intakeLimits]: number };

export type Intake = {
  limits: IntakeLimits;
  memory: ByteBudget;
  disk: ByteBudget;
  work: ByteBudget;
  /** The folder for bodies while they are received. */
  dir: string;
  /** The error for data that does not fit now; counted for `fault`. */
  full(): ServiceError;
  /** One line for /health if something was refused within the last minute; else null. */
  fault(): string | null;
};

const shownMs = 60_000;

/** The budget of one process for received data. Several processes may share the folder. */
export function createIntake(dataDir: string, limits: IntakeLimits = intakeLimits): Intake {
  const dir = dataPaths(dataDir).bodies;
  // Files there have no names, except one whose process was killed between creating and unlinking it.
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
      return queueFull('Too much data is being received at once. Send this again in a moment.', 5);
    },
    fault: () =>
      isShown()
        ? `${counted(refusals, 'request')} ${refusals === 1 ? 'was' : 'were'} refused because too much data arrived at once`
        : null,
  };
}
