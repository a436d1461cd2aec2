import { GitFault } from './git.ts';

/** Exit codes of `svc update` (spec, Versioning). */
export const updateCodes = { ok: 0, rolledBack: 2, manual: 3, current: 4, busy: 5, managed: 6 } as const;

/** How an update ended. `words`: for a person, in whole sentences. `to`: what an update would go to. `gapMs`: for how long the core answered nobody. */
export type Outcome = {
  code: (typeof updateCodes)[keyof typeof updateCodes];
  words: string;
  to?: { name: string; commit: string };
  gapMs?: number;
  /** It cannot go on because of files of the installation. */
  isOfFiles?: boolean;
  /** The machine or its network failed, which passes: it may be tried again by itself. */
  isPassing?: boolean;
  /** What is published is not in order, such as its signature. */
  isRefused?: boolean;
};

export const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

type Kind = { isOfFiles?: true; isPassing?: true; isRefused?: true };

/** What ends an update before anything was stopped, or when a person has to look. Every one of them is expected. */
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

/** How what was thrown ends an update; passes on what nobody expects. */
export function toOutcome(error: unknown): Outcome {
  if (error instanceof UpdateStopped) return error.outcome;
  if (error instanceof GitFault) return { code: updateCodes.manual, words: `Nothing was changed. ${error.message}` };
  throw error;
}
