import { invisible, unitClasses } from './unit-classes.ts';
import { isDigit, isLower, isUpper, isWhiteSpace } from './unit-kinds.ts';

const [space, ampersand, semicolon, hash, slash, less, greater] = [32, 38, 59, 35, 47, 60, 62];
const longestTag = 128;
const longestEntity = 8;

/** The results for a unit to skip, and for one that may not occur between the lines of a key. */
export const skipped = -1;
const misplaced = less;

/**
 * Reads tags, entities, white space and the rulers of terminals between the lines of a key as spaces, and drops
 * invisible characters.
 */
export class KeyMarkup {
  /** How many units of a tag or an entity were read; 0 outside. */
  #tag = 0;
  #entity = 0;

  take(unit: number): number {
    if (unitClasses[unit] === invisible) return skipped;
    if (unit >= 128) return isRuler(unit) || isWhiteSpace(unit) ? space : unit;
    if (this.#tag > 0) return this.#takeTag(unit);
    if (this.#entity > 0 && this.#takeEntity(unit)) return space;
    if (unit === less) this.#tag = 1;
    if (unit === ampersand) this.#entity = 1;
    return unit === less ? space : unit;
  }

  #takeTag(unit: number): number {
    const isTag = this.#tag === 1 ? isLetter(unit) || unit === slash : unit !== less && unit !== 10;
    this.#tag = isTag && unit !== greater && this.#tag < longestTag ? this.#tag + 1 : 0;
    return isTag ? space : misplaced;
  }

  #takeEntity(unit: number): boolean {
    const isPart = isLetter(unit) || isDigit(unit) || unit === semicolon || (unit === hash && this.#entity === 1);
    this.#entity = isPart && unit !== semicolon && this.#entity < longestEntity ? this.#entity + 1 : 0;
    return isPart;
  }
}

const isLetter = (unit: number): boolean => isLower(unit) || isUpper(unit);

/** Lines that terminals draw between numbers and text. */
const isRuler = (unit: number): boolean => unit >= 0x2500 && unit <= 0x257f;
