import { setImmediate as nextTurn } from 'node:timers/promises';
import { usualJsonLimits } from '../json-shape.ts';
import { inTurns, type Steps } from '../redaction/pace.ts';

/** How many characters are written in one step. */
const usualStep = 16 * 1024;
/** Approximate characters of a value in addition to its text. */
const partLength = 4;

/** Like `JSON.stringify`. For a long value it returns a promise and works in steps, so that other work need not wait. */
export const jsonInTurns = (value: unknown): string | Promise<string> =>
  isLong(value) ? writeInTurns(value) : JSON.stringify(value);

export async function writeInTurns(value: unknown): Promise<string> {
  const json = await inTurns(writeSteps(value));
  // Sending or storing it, which follows, takes time too.
  await nextTurn();
  return json;
}

/** Whether a value has more than about `limit` characters as JSON. It reads no further than that. */
export const isLong = (value: unknown, limit = usualStep): boolean => roomBehind(value, limit) < 0;

export const lengthAbout = (value: unknown): number => Number.MAX_SAFE_INTEGER - roomBehind(value, Number.MAX_SAFE_INTEGER);

/** What is left of a limit after a value; negative for a value that is nested too deeply. */
function roomBehind(value: unknown, limit: number, depth = 0): number {
  let room = limit - partLength;
  if (typeof value === 'string') return room - value.length;
  if (typeof value !== 'object' || value === null) return room;
  if (depth > usualJsonLimits.depth) return -1;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && room >= 0; i++) room = roomBehind(value[i], room, depth + 1);
    return room;
  }
  for (const name in value) {
    room = roomBehind((value as Record<string, unknown>)[name], room - name.length, depth + 1);
    if (room < 0) break;
  }
  return room;
}

/** Writes a JSON value like `JSON.stringify`, in small steps. */
export function* writeSteps(value: unknown, step = usualStep): Steps<string> {
  const pieces: string[] = [];
  yield* write(value, { step, depth: 0 }, pieces);
  yield; // joining some megabytes is a step too
  return pieces.join('');
}

/** The length of a step, and the depth of a value. */
type Place = { step: number; depth: number };

/** Long values are walked; short ones, those with `toJSON` and very deep ones are written at once. */
function* write(value: unknown, { step, depth }: Place, out: string[]): Steps<void> {
  const inner = { step, depth: depth + 1 };
  if (typeof value === 'string' && value.length > step) yield* writeText(value, step, out);
  else if (
    typeof value !== 'object' ||
    value === null ||
    hasOwnForm(value) ||
    depth > usualJsonLimits.depth ||
    !isLong(value, step)
  )
    out.push(JSON.stringify(value) ?? 'null');
  else if (Array.isArray(value)) yield* writeList(value, inner, out);
  else yield* writeObject(value as Record<string, unknown>, inner, out);
}

const hasOwnForm = (value: object): boolean => typeof (value as { toJSON?: unknown }).toJSON === 'function';

function* writeText(text: string, step: number, out: string[]): Steps<void> {
  out.push('"');
  for (let at = 0; at < text.length;) {
    const end = isPair(text, at + step) ? at + step + 1 : at + step;
    out.push(JSON.stringify(text.slice(at, end)).slice(1, -1));
    at = end;
    yield;
  }
  out.push('"');
}

/** Whether a position is within a surrogate pair, whose halves would be written as escapes. */
const isPair = (text: string, at: number): boolean => (text.codePointAt(at - 1) ?? 0) > 0xffff;

function* writeList(list: readonly unknown[], place: Place, out: string[]): Steps<void> {
  out.push('[');
  for (let at = 0; at < list.length;) {
    if (at > 0) out.push(',');
    const end = endOfRun(list, at, place.step);
    if (end > at) out.push(JSON.stringify(list.slice(at, end)).slice(1, -1));
    else yield* write(list[at], place, out);
    at = Math.max(end, at + 1);
    yield;
  }
  out.push(']');
}

/** The first item from here on that no longer fits in the step. */
function endOfRun(list: readonly unknown[], from: number, step: number): number {
  let at = from;
  for (let room = step; at < list.length; at++) {
    room = roomBehind(list[at], room);
    if (room < 0) break;
  }
  return at;
}

function* writeObject(object: Record<string, unknown>, place: Place, out: string[]): Steps<void> {
  let before = '{';
  let room = place.step;
  for (const [name, value] of Object.entries(object)) {
    if (isLeftOut(value)) continue;
    out.push(`${before}${JSON.stringify(name)}:`);
    yield* write(value, place, out);
    before = ',';
    room = roomBehind(value, room - name.length);
    if (room >= 0) continue;
    room = place.step;
    yield;
  }
  out.push(before === '{' ? '{}' : '}');
}

const isLeftOut = (value: unknown): boolean => value === undefined || typeof value === 'function' || typeof value === 'symbol';
