import { isWordUnit } from './unit-kinds.ts';

/** The number in front of a line may have more or fewer digits than that of the first one. */
const growth = 2;
/** So many signs may close a line that has nothing of the key: of a string, of an object. */
const longestRest = 16;
/** What is longer is no number or time in front of a line. */
export const longestPrefix = 100;

/**
 * What stands before the head line of a key (a line number, a time, a name of a program) and in the same shape before each of
 * its lines: digits and spaces may differ.
 */
export class LinePrefix {
  readonly #shape: RegExp | null;
  readonly #least: number;
  readonly #most: number;
  #line: string | null = null;
  #rest: number;

  constructor(prefix: string) {
    const isPrefix = prefix.length <= longestPrefix && /[A-Za-z0-9]/.test(prefix) && !prefix.includes('[redacted:'); // a mask had another shape
    this.#shape = isPrefix ? shapeOf(prefix) : null;
    this.#rest = isPrefix ? longestRest : 0;
    this.#least = prefix.length - growth;
    this.#most = prefix.length + growth;
  }

  /** The line may still turn out to begin with the prefix, or to have nothing else in it. */
  get isOpen(): boolean {
    return this.#line !== null || this.#rest > 0;
  }

  /** True when the prefix ends with this unit. */
  take(unit: number): boolean {
    this.#rest = unit === 10 || isWordUnit(unit) ? 0 : Math.max(0, this.#rest - 1);
    if (unit === 10 && this.#shape !== null) this.#line = '';
    else if (this.#line !== null) return this.#takeOfLine(this.#line + String.fromCharCode(unit));
    return false;
  }

  #takeOfLine(line: string): boolean {
    const isWhole = line.length >= this.#least && this.#shape?.test(line) === true;
    this.#line = isWhole || line.length >= this.#most ? null : line;
    if (isWhole) this.#rest = longestRest;
    return isWhole;
  }
}

/** Each row of digits and of spaces stands for any; everything else for itself. */
const shapeOf = (prefix: string): RegExp => new RegExp(`^${prefix.replaceAll(/\d+|\s+|[^\d\s\w]/g, partOfShape)}$`);

function partOfShape(part: string): string {
  if (/\d/.test(part)) return String.raw`\d+`;
  return /\s/.test(part) ? String.raw`\s+` : `\\${part}`;
}
