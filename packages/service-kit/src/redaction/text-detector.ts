import { endOfKeyBlock, keyBlockStart } from './key-blocks.ts';
import { holdPoint, isRun, opensRun, startOfRun } from './held-text.ts';
import type { KeywordTable } from './keyword-table.ts';
import { maskPlaces } from './mask-places.ts';
import { toPlaceholder } from './placeholder.ts';
import type { DetectionRule, Found } from './rules/rule.ts';
import type { StreamRedactor } from './stream-redactor.ts';

/** So far may an operator stand behind the name of an assignment, and so far the value behind the operator. */
const operatorWithin = 26;
const valueWithin = 8;
const lineOperatorWithin = 8;
const spanLength = 2048;
/** A run or value that is shorter is no secret. */
const leastRun = 7;
/** More is never held back: what is open by then is looked at, and masked to its end if a rule holds good to there. */
const maxHeld = 4096;
/** Text that has left is kept this far back, as what stands before a secret. */
const contextLength = 256;
/** A mask can bring out another; more than this often only in text made for it. */
const maxRounds = 5;

const isOperator = (unit: number): boolean => unit === 61 || unit === 58 || unit === 62 || unit === 124 || unit === 44;

/**
 * Finds secrets of a known form in a stream, by rules. One pass over the text looks for the rules' keywords; only the
 * place that a keyword opens is held back until it ends and then looked at by the rules of that keyword. Where such a
 * place begins and ends depends on the text alone, so a stream gives the same as the whole however it is cut.
 */
export function createTextDetector(table: KeywordTable, holdsWords: boolean): StreamRedactor {
  const { next, classes, width, firstHit } = table;
  /** Some text that has left already, then what is held. */
  let buffer = '';
  let released = 0;
  /** What is before it was settled, however the text is cut. */
  let settled = 0;
  let at = 0;
  let state = 0;
  let out = '';

  /** Masks start here or later; -1 while nothing is open. */
  let floor = -1;
  let contextFrom = 0;
  const seen = new Set<number>();
  let operatorBy = -1;
  let lineOperatorBy = -1;
  let valueBy = -1;
  let openUntil = -1;
  let lineUntil = -1;
  let inRun = false;
  let runFrom = 0;
  let isRipe = false;
  let inNumber = false;
  let numberFrom = 0;
  let keyFrom = -1;
  let swallowing: 'run' | 'key' | null = null;

  const open = (from: number, mask: number) => {
    if (floor === -1) floor = mask;
    if (contextFrom > from) contextFrom = startOfRun(buffer, from) - 1;
  };
  /** What stands before a keyword in its run may be part of the token. */
  const openRun = (from: number) => open(from, floor === -1 ? holdPoint(buffer, settled, at - 1, table, holdsWords) : floor);
  const isOpen = () => inRun || inNumber || at <= valueBy || at <= openUntil || at <= lineUntil || keyFrom !== -1;
  const isArmed = () => at <= operatorBy || at <= lineOperatorBy;

  /** A keyword has ended just before `at`. */
  const takeHit = () => {
    for (const index of table.hits(state)) {
      const { word, opening, isBound } = table.keywords[index]!;
      const from = at - word.length;
      if (isBound && from > 0 && isWordUnit(buffer.charCodeAt(from - 1))) continue;
      if (seen.size === 0) contextFrom = startOfRun(buffer, from) - 1;
      seen.add(index);
      switch (opening) {
        case 'token':
        case 'assigned-token':
          openRun(from);
          if (opening === 'assigned-token') contextFrom = Math.min(contextFrom, from - contextLength / 2);
          if (!inRun) runFrom = startOfRun(buffer, from);
          inRun = true;
          break;
        case 'assignment':
          operatorBy = at + operatorWithin;
          break;
        case 'value':
          open(from, at);
          valueBy = at + valueWithin;
          break;
        case 'line':
          lineOperatorBy = at + lineOperatorWithin;
          break;
        case 'span':
          open(from, at);
          openUntil = at + spanLength;
          break;
        case 'phone':
          openRun(from);
          if (!inNumber) numberFrom = from;
          inNumber = true;
          break;
        case 'key-block':
          if (!keyBlockStart.isHead(buffer, from)) break;
          open(from, at);
          keyFrom = at;
          break;
      }
    }
  };

  /** One more unit of a place that is open, or may soon be. */
  const takeUnit = (unit: number) => {
    const operates = isOperator(unit);
    if (operates) {
      if (at - 1 <= operatorBy) {
        open(at - 1, at);
        valueBy = at + valueWithin;
      }
      if (at - 1 <= lineOperatorBy) {
        open(at - 1, at);
        lineUntil = at + maxHeld - 96;
      }
    }
    if (!operates && !isNameUnit(unit)) operatorBy = lineOperatorBy = -1;
    if (unit === 10 && lineUntil !== -1) {
      lineUntil = -1;
      isRipe = true;
    }
    if (inNumber && !isNumberUnit(unit)) {
      inNumber = false;
      if (at - 1 - numberFrom >= leastRun) isRipe = true;
    }
    if (isRun(unit)) {
      if (!inRun && at - 1 <= valueBy && !operates) {
        inRun = true;
        runFrom = at - 1;
      }
      return;
    }
    if (inRun) {
      if (at - 1 - runFrom >= leastRun) isRipe = true;
      // An escaped line end is two characters, and ends a value like a line end.
      if (unit === 92) openUntil = Math.max(openUntil, at);
      inRun = false;
      if (!operates && !isOperator(buffer.charCodeAt(at - 2))) valueBy = -1;
    } else if (!operates && !opensRun(unit)) valueBy = -1;
  };

  /** Lets out what was held up to `until`, with the places masked that the rules of the keywords seen there find. */
  const close = (until: number, isCut: boolean) => {
    if ((inRun && at - runFrom >= leastRun) || (inNumber && at - numberFrom >= leastRun)) isRipe = true;
    if (lineUntil !== -1 || openUntil !== -1) isRipe = true;
    let isOngoing = false;
    if (isRipe && floor !== -1) {
      const { masked, reachesEnd } = mask(until, isCut);
      isOngoing = isCut && reachesEnd;
      out += buffer.slice(released, floor) + masked;
    } else out += buffer.slice(released, until);
    released = settled = until;
    floor = -1;
    isRipe = false;
    valueBy = lineUntil = openUntil = keyFrom = -1;
    inNumber = false;
    if (!isCut) inRun = false;
    if (isOngoing) swallowing = 'run';
    if (!isCut && !isArmed()) forget();
  };

  const forget = () => {
    seen.clear();
    operatorBy = lineOperatorBy = -1;
    contextFrom = Number.MAX_SAFE_INTEGER;
  };

  /** What is held up to `until`, masked, and again until nothing more is found: redacting twice then changes nothing. */
  const mask = (until: number, isCut: boolean): { masked: string; reachesEnd: boolean } => {
    const from = Math.max(0, floor - contextLength, Math.min(contextFrom, floor));
    const rules = rulesSeen(isCut);
    let text = buffer.slice(from, at);
    const start = floor - from;
    const after = at - until;
    let reachesEnd = false;
    for (let round = 0; round < maxRounds; round++) {
      const places = findPlaces(rules, text, start, text.length - after);
      if (places.length === 0) break;
      if (round === 0) reachesEnd = places.some(({ to }) => to >= text.length - after);
      const next = text.slice(0, start) + maskPlaces(text, start, text.length, places);
      if (next === text) break;
      text = next;
    }
    return { masked: text.slice(start, text.length - after), reachesEnd };
  };

  const rulesSeen = (isCut: boolean): DetectionRule[] => {
    // The value of an assignment ends where its run does, and is short.
    const counted = [...seen].filter((index) => !isCut || table.keywords[index]!.opening !== 'assignment');
    const rules = new Set(counted.flatMap((index) => table.keywords[index]!.rules));
    return [...rules].map((index) => table.rules[index]!);
  };

  /** Over text in which nothing is open: the state alone is carried. */
  const skipQuiet = () => {
    let current = state;
    let i = at;
    const end = buffer.length;
    while (i < end) {
      const unit = buffer.charCodeAt(i++);
      current = next[current * width + (unit < 128 ? classes[unit]! : 0)]!;
      if (current >= firstHit) break;
    }
    at = i;
    state = current;
    if (current >= firstHit) {
      takeHit();
      takeUnit(buffer.charCodeAt(at - 1));
    }
  };

  const stepOpen = () => {
    const unit = buffer.charCodeAt(at++);
    state = next[state * width + (unit < 128 ? classes[unit]! : 0)]!;
    if (state >= firstHit) takeHit();
    takeUnit(unit);
    if (keyFrom !== -1) lookAtKey(false);
    if (floor !== -1 && !isOpen()) close(isRun(unit) ? Math.max(floor, at - 1) : at, false);
    else if (floor !== -1 && at - floor >= maxHeld) cut();
    else if (floor === -1 && seen.size > 0 && !isArmed()) forget();
  };

  /** A place that does not end: what a rule holds good for so far is masked, and so is the rest of it. */
  const cut = () => {
    const wasInRun = inRun;
    close(at, true);
    if (swallowing !== null) return forget();
    if (!wasInRun) forget();
    else {
      floor = at;
      runFrom = at;
      contextFrom = at;
    }
  };

  const lookAtKey = (isEnd: boolean) => {
    const verdict = keyBlockStart.verdict(buffer.slice(keyFrom, at), isEnd);
    if (verdict === 'no') keyFrom = -1;
    if (verdict !== 'key') return;
    const from = keyFrom;
    const kept = at;
    keyFrom = -1;
    close(from, false);
    out += toPlaceholder('private-key');
    forget();
    inRun = false;
    state = 0;
    swallowing = 'key';
    released = settled = kept;
  };

  const swallow = () => {
    const end = swallowing === 'run' ? endOfRun(buffer, at) : endOfKeyBlock(buffer, released);
    if (end === -1) {
      // The end of a key may be cut in two.
      at = buffer.length;
      released = swallowing === 'run' ? at : Math.max(released, at - 10);
      return;
    }
    at = released = settled = end;
    swallowing = null;
    inRun = false;
    state = 0;
  };

  const run = () => {
    while (at < buffer.length) {
      if (swallowing !== null) swallow();
      else if (floor === -1 && seen.size === 0) skipQuiet();
      else stepOpen();
    }
  };

  const take = (): string => {
    const taken = out;
    out = '';
    return taken;
  };

  const dropOld = () => {
    const keep = released - contextLength;
    if (keep >= contextLength * 4) shift(keep);
  };
  const shift = (by: number) => {
    buffer = buffer.slice(by);
    released -= by;
    settled = Math.max(0, settled - by);
    at -= by;
    if (floor !== -1) floor -= by;
    if (contextFrom !== Number.MAX_SAFE_INTEGER) contextFrom -= by;
    runFrom -= by;
    numberFrom -= by;
    [operatorBy, lineOperatorBy, valueBy, openUntil, lineUntil, keyFrom] = [
      operatorBy,
      lineOperatorBy,
      valueBy,
      openUntil,
      lineUntil,
      keyFrom,
    ].map((position) => (position === -1 ? -1 : Math.max(-1, position - by))) as [number, number, number, number, number, number];
  };

  forget();
  return {
    push(text) {
      buffer = buffer === '' ? text : buffer + text;
      run();
      if (swallowing === null && floor === -1) {
        const until = Math.max(released, holdPoint(buffer, settled, buffer.length, table, holdsWords));
        out += buffer.slice(released, until);
        released = until;
      } else if (swallowing === null && floor > released) {
        out += buffer.slice(released, floor);
        released = floor;
      }
      dropOld();
      return take();
    },
    end() {
      if (swallowing === null) {
        if (keyFrom !== -1) lookAtKey(true);
        if (swallowing === null) {
          if (floor === -1) {
            out += buffer.slice(released);
            released = buffer.length;
          } else close(buffer.length, false);
        }
      }
      return take();
    },
  };
}

/** What may stand between a name and its operator: the rest of the name, spaces, quotes. */
const isNameUnit = (unit: number): boolean => isWordUnit(unit) || nameSigns.includes(String.fromCharCode(unit));
const nameSigns = ' \t\r\n.-?"\'`\\';

const isNumberUnit = (unit: number): boolean => (unit >= 48 && unit <= 57) || numberSigns.includes(String.fromCharCode(unit));
const numberSigns = ' +-./()';

/** A word's letter before a keyword says that it is part of another word. */
const isWordUnit = (unit: number): boolean =>
  (unit >= 97 && unit <= 122) || (unit >= 48 && unit <= 57) || (unit >= 65 && unit <= 90) || unit === 95;

function findPlaces(rules: readonly DetectionRule[], text: string, from: number, until: number): Found[] {
  return rules
    .flatMap((rule) => rule.find(text))
    .map((found) => ({ from: Math.max(from, found.from), to: Math.min(until, endOfWord(text, found.to)), kind: found.kind }))
    .filter((place) => place.to > place.from)
    .toSorted((a, b) => a.from - b.from || b.to - a.to);
}

/** What a secret runs on into goes with it: it is part of it, or would look like a secret of its own. */
function endOfWord(text: string, to: number): number {
  let end = to;
  while (end < text.length && isWordUnit(text.charCodeAt(end))) end++;
  return end;
}

function endOfRun(text: string, from: number): number {
  for (let i = from; i < text.length; i++) if (!isRun(text.charCodeAt(i))) return i;
  return -1;
}
