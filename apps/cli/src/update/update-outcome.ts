/** Exit codes of `svc update` (spec, Versioning). */
export const updateCodes = { ok: 0, rolledBack: 2, manual: 3, current: 4, busy: 5, managed: 6 } as const;

/** How an update ended. `words`: for a person, in whole sentences. `to`: what an update would go to. `gapMs`: for how long the core answered nobody. */
export type Outcome = {
  code: (typeof updateCodes)[keyof typeof updateCodes];
  words: string;
  to?: { name: string; commit: string };
  gapMs?: number;
};

export const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** What ends an update before anything was stopped, or when a person has to look. Every one of them is expected. */
export class UpdateStopped extends Error {
  override readonly name = 'UpdateStopped';
  readonly outcome: Outcome;

  constructor(code: Outcome['code'], words: string, options?: ErrorOptions) {
    super(words, options);
    this.outcome = { code, words };
  }
}
