import type { KeyBlockReader } from './key-blocks.ts';
import { holdPoint, isRun, startOfWord } from './held-text.ts';
import { findIn, type KeywordTable } from './keyword-table.ts';
import { maskPiece } from './mask-piece.ts';
import { contextLength, OpenPlace } from './open-place.ts';
import { toPlaceholder } from './placeholder.ts';
import type { StreamRedactor } from './stream-redactor.ts';

/** More is never held back: what is open by then is looked at, and masked to its end if a rule holds good to there. */
const maxHeld = 4096;

/**
 * Finds secrets of a known form in a stream, by rules. One pass over the text looks for the rules' keywords; only the
 * place that a keyword opens is held back until it ends and then looked at by the rules of that keyword. Where such a
 * place begins and ends depends on the text alone, so a stream gives the same as the whole however it is cut.
 */
export function createTextDetector(table: KeywordTable, holdsWords: boolean): StreamRedactor {
  const { next, classes, width, firstHit } = table;
  const place = new OpenPlace(table, holdsWords);
  /** Some text that has left already, then what is held. */
  let buffer = '';
  let released = 0;
  /** What is before it was settled, however the text is cut. */
  let settled = 0;
  let at = 0;
  let state = 0;
  let out = '';
  let swallowing: 'run' | KeyBlockReader | null = null;

  const run = () => {
    while (at < buffer.length) {
      if (swallowing === 'run') swallowRun();
      else if (swallowing !== null) swallowKey(swallowing);
      else if (place.floor === -1 && place.seen.size === 0) skipQuiet();
      else stepOpen();
    }
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
    if (current < firstHit) return;
    takeHit();
    place.takeUnit(buffer.charCodeAt(at - 1), buffer, at);
  };

  const stepOpen = () => {
    const unit = buffer.charCodeAt(at++);
    state = next[state * width + (unit < 128 ? classes[unit]! : 0)]!;
    if (state >= firstHit) takeHit();
    place.takeUnit(unit, buffer, at);
    if (place.keyReader !== null && at > place.keyFrom) lookAtKey(place.keyReader, unit);
    const { floor } = place;
    if (floor !== -1 && !place.isOpen(at)) close(isRun(unit) ? Math.max(floor, at - 1) : at, false);
    else if (floor !== -1 && at - floor >= maxHeld) cut();
    else if (floor === -1 && place.seen.size > 0 && !place.isArmed(at)) place.forget();
  };

  const takeHit = () => {
    for (const index of table.hits(state)) place.takeKeyword(index, table.keywords[index]!, { buffer, settled, at });
  };

  /** Lets out what was held up to `until`, with the places masked that the rules of the keywords seen there find. */
  const close = (until: number, isCut: boolean) => {
    let isOngoing = false;
    if (place.floor !== -1 && place.isRipe(at)) {
      const { masked, reachesEnd } = mask(until, isCut);
      isOngoing = isCut && reachesEnd;
      out += buffer.slice(released, place.floor) + masked;
    } else out += buffer.slice(released, until);
    released = settled = until;
    place.settle(isCut);
    if (isOngoing) swallowing = 'run';
    if (!isCut && !place.isArmed(at)) place.forget();
  };

  const mask = (until: number, isCut: boolean) => {
    const { floor, contextFrom } = place;
    const from = Math.max(0, floor - place.reach, Math.min(contextFrom, floor));
    const rules = rulesSeen(isCut);
    return maskPiece((text) => findIn(table, rules, text), {
      text: buffer.slice(from, at),
      from: floor - from,
      until: until - from,
    });
  };

  const rulesSeen = (isCut: boolean): Set<number> => {
    // The value of an assignment ends where its run does, and is short.
    const counted = [...place.seen].filter((index) => !isCut || table.keywords[index]!.opening !== 'assignment');
    return new Set(counted.flatMap((index) => table.keywords[index]!.rules));
  };

  /**
   * A place that does not end is cut before the word that is being read, and goes on there. Within a run of that length,
   * what a rule holds good for so far is masked, and so is the rest of it.
   */
  const cut = () => {
    const { inRun: wasInRun, keyReader, keyFrom } = place;
    if (keyReader !== null) return cutBeforeKey(keyReader, keyFrom);
    const start = startOfWord(buffer, at);
    if (start > place.floor) return goOnFrom(start);
    close(at, true);
    if (swallowing !== null || !wasInRun) return place.forget();
    place.floor = place.contextFrom = at;
    place.beginRun(at);
  };

  const goOnFrom = (start: number) => {
    out +=
      buffer.slice(released, place.floor) + (place.isRipe(at) ? mask(start, false).masked : buffer.slice(place.floor, start));
    released = settled = start;
    place.carry(start);
  };

  /** What may be the beginning of a key stays open. */
  const cutBeforeKey = (reader: KeyBlockReader, keyFrom: number) => {
    close(keyFrom, false);
    place.floor = place.keyFrom = keyFrom;
    place.keyReader = reader;
  };

  const lookAtKey = (reader: KeyBlockReader, unit: number) => {
    reader.take(unit, buffer, at);
    if (reader.state === 'key') beginKey(reader);
    else if (reader.state === 'no') place.endKey();
  };

  const beginKey = (reader: KeyBlockReader) => {
    close(place.keyFrom, false);
    out += toPlaceholder('private-key');
    place.forget();
    swallowing = reader;
    released = settled = reader.keyUntil;
  };

  const swallowKey = (reader: KeyBlockReader) => {
    while (at < buffer.length && reader.state === 'key') {
      at++;
      reader.take(buffer.charCodeAt(at - 1), buffer, at);
    }
    released = settled = reader.keyUntil;
    if (reader.state !== 'key') goOn(reader.keyUntil);
  };

  const swallowRun = () => {
    const end = endOfRun(buffer, at);
    if (end !== -1) return goOn(end);
    at = released = buffer.length;
  };

  /** After something that was masked to its end. */
  const goOn = (from: number) => {
    // Rules see the mask before what follows, as they would in the masked text.
    const mask = toPlaceholder('private-key');
    buffer = mask + buffer.slice(from);
    at = released = settled = mask.length;
    swallowing = null;
    place.inRun = false;
    state = 0;
  };

  /** Nothing more comes: a key that was cut off ends here, and what follows the last line of one is other text. */
  const endKeys = () => {
    for (;;) {
      const reader = place.keyReader;
      reader?.end(at);
      if (reader?.state === 'key') beginKey(reader);
      else place.endKey();
      if (swallowing === null || swallowing === 'run') return;
      swallowing.end(at);
      goOn(swallowing.keyUntil);
      run();
    }
  };

  const letOut = (until: number) => {
    out += buffer.slice(released, until);
    released = until;
  };

  const take = (): string => {
    const taken = out;
    out = '';
    return taken;
  };

  const dropOld = () => {
    const by = released - place.reach;
    if (by < contextLength * 4) return;
    buffer = buffer.slice(by);
    released -= by;
    settled = Math.max(0, settled - by);
    at -= by;
    place.shift(by);
    if (swallowing !== null && swallowing !== 'run') swallowing.shift(by);
  };

  return {
    push(text) {
      buffer = buffer === '' ? text : buffer + text;
      run();
      if (swallowing === null) {
        const safe = place.floor === -1 ? holdPoint(buffer, settled, buffer.length, table, holdsWords) : place.floor;
        letOut(Math.max(released, safe));
      }
      dropOld();
      return take();
    },
    end() {
      endKeys();
      if (swallowing === null) {
        if (place.floor === -1) letOut(buffer.length);
        else close(buffer.length, false);
      }
      return take();
    },
  };
}

function endOfRun(text: string, from: number): number {
  for (let i = from; i < text.length; i++) if (!isRun(text.charCodeAt(i))) return i;
  return -1;
}
