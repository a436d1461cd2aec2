import { isDigit, isLower, isUpper } from './unit-kinds.ts';

/** A run of this length with digits and letters of both cases is part of a key wherever it is. */
const leastLine = 32;
/** A shorter last run is no line of a key. */
export const leastLastLine = 4;

/** Consecutive characters of base64, and which kinds of them occur. */
export type Run = {
  length: number;
  hasLower: boolean;
  hasUpper: boolean;
  hasDigit: boolean;
  hasSign: boolean;
  startsUpper: boolean;
};

export const noRun = (): Run => ({
  length: 0,
  hasLower: false,
  hasUpper: false,
  hasDigit: false,
  hasSign: false,
  startsUpper: false,
});

export function addTo(run: Run, unit: number): void {
  if (isLower(unit)) run.hasLower = true;
  else if (isDigit(unit)) run.hasDigit = true;
  else if (!isUpper(unit)) run.hasSign = true;
  else if (run.length === 0) run.startsUpper = true;
  else run.hasUpper = true;
  run.length++;
}

/** A plain word: `word`, `Word` or `WORD`. */
export const isWord = (run: Run): boolean => run.length > 0 && !run.hasDigit && !run.hasSign && !(run.hasLower && run.hasUpper);

/** A plus or slashes may join or begin lines of code. */
export const isJoin = ({ length, hasSign, hasLower, hasUpper, hasDigit, startsUpper }: Run): boolean =>
  length === 0 || (hasSign && length < leastLastLine && !hasLower && !hasUpper && !hasDigit && !startsUpper);

export const isLine = (run: Run): boolean =>
  run.length >= leastLine && run.hasLower && run.hasDigit && (run.hasUpper || run.startsUpper);

export const isKeyUnit = (unit: number): boolean =>
  isLower(unit) || isUpper(unit) || isDigit(unit) || unit === 43 || unit === 47 || unit === 61;
