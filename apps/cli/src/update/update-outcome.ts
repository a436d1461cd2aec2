import { GitFault } from './git.ts';

/** Exit codes of `svc update` (spec, Versioning). */
export const updateCodes = { ok: 0, rolledBack: 2, manual: 3, current: 4, busy: 5, managed: 6 } as const;

/** The outcome of an update. `words`: whole sentences for a person. `to`: its target. `gapMs`: how long the core was unavailable. */
export type Outcome = {
  code: (typeof updateCodes)[keyof typeof updateCodes];
  words: string;
  to?: { name: string; commit: string };
  gapMs?: number;
  /** Files of the installation prevent it from continuing. */
  isOfFiles?: boolean;
  /** A temporary failure of the machine or network: it may be retried automatically. */
  isPassing?: boolean;
  /** A published file is invalid, such as its signature. */
  isRefused?: boolean;
};

export const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

type Kind = { isOfFiles?: true; isPassing?: true; isRefused?: true };

/** Ends an update before anything was stopped, or when a person must act. All of these are expected. */
export class UpdateStopped extends Error {
  override readonly name = 'UpdateStopped';
  readonly outcome: Outcome;

  constructor(code: Outcome['code'], words: string, { isOfFiles, isPassing, isRefused, ...options }: ErrorOptions & Kind = {}) {
    super(words, options);
    this.outcome = {
      code,
      words,
      ...(isOfFiles && { isOfFiles }),
      ...(isPassing && { isPassing }),
      ...(isRefused && { isRefused }),
    };
  }
}

/** The outcome for a thrown error; rethrows unexpected ones. */
export function toOutcome(error: unknown): Outcome {
  if (error instanceof UpdateStopped) return error.outcome;
  if (error instanceof GitFault) return { code: updateCodes.manual, words: `Nothing was changed. ${error.message}` };
  throw error;
}
