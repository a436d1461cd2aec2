import { isWordUnit } from './unit-kinds.ts';

/** How many more digits the number in front of a line may have than that of the first line. */
const growth = 2;
/** How many closing signs a line without any part of the key may have, such as the end of a string or an object. */
const longestRest = 16;
/** Longer text is no line number or time. */
export const longestPrefix = 100;

/**
 * The text before the head line of a key (a line number, a time, the name of a program), which is also before each of its
 * lines, with other digits and spaces.
 */
export class LinePrefix {
  readonly #shape: RegExp | null;
  readonly #least: number;
  readonly #most: number;
  #line: string | null = null;
  #rest: number;

  constructor(prefix: string) {
    const isPrefix = prefix.length <= longestPrefix && /[A-Za-z0-9]/.test(prefix) && !prefix.includes('[redacted:'); // a mask changes the shape
    this.#shape = isPrefix ? shapeOf(prefix) : null;
    this.#rest = isPrefix ? longestRest : 0;
    this.#least = prefix.length - growth;
    this.#most = prefix.length + growth;
  }

  /** True while the line may still turn out to begin with the prefix, or to consist of it. */
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

/** Digits match any digits and spaces any spaces; everything else matches itself. */
const shapeOf = (prefix: string): RegExp => new RegExp(`^${prefix.replaceAll(/\d+|\s+|[^\d\s\w]/g, partOfShape)}$`);

function partOfShape(part: string): string {
  if (/\d/.test(part)) return String.raw`\d+`;
  return /\s/.test(part) ? String.raw`\s+` : `\\${part}`;
}
