import { freeBytes } from '../intake/byte-blocks.ts';
import { JsonShape, looseJsonLimits, usualJsonLimits } from '../json-shape.ts';
import { inTurns, type Steps } from '../redaction/pace.ts';
import { parseJson, decodeUtf8, refuseIllFormed, refuseOtherBytes } from '../well-formed.ts';
import { parseSteps, type Parsed } from './parse-steps.ts';

/** JSON up to this size is parsed at once, within a few milliseconds. In steps it takes several times as long. */
const shortJson = { bytes: 512 * 1024, fields: 10_000 };
/** Up to this size it is always parsed at once, however many fields it has. */
const leastBytes = 64 * 1024;

/** Whether JSON is long enough to be parsed in turns of the event loop. Not if it is deeper than any sensible value. */
export function isReadInTurns({ length }: Buffer, { deepest, fields }: Pick<JsonShape, 'deepest' | 'fields'>): boolean {
  if (length <= leastBytes || deepest > usualJsonLimits.depth) return false;
  return length > shortJson.bytes || fields > shortJson.fields;
}

/**
 * Parses JSON from outside and frees its bytes.
 * @throws SyntaxError, or ServiceError `bad_request` that names the text that is not well-formed.
 */
export async function readJson(bytes: Buffer, shape: JsonShape): Promise<unknown> {
  if (!isReadInTurns(bytes, shape)) {
    const text = decodeUtf8(bytes);
    freeBytes(bytes);
    return parseJson(text);
  }
  const parsed = await parseLongJson(bytes);
  await refuseIllFormed(parsed);
  return parsed.value;
}

/** Parses long JSON like `JSON.parse`, in turns of the event loop, and frees its bytes. @throws as `readJson`. */
export async function parseLongJson(bytes: Buffer): Promise<Parsed> {
  refuseOtherBytes(bytes);
  const parsed = await inTurns(parseSteps(bytes));
  freeBytes(bytes);
  return parsed;
}

/** Parses JSON that this process wrote itself, in turns of the event loop if it is long. */
export async function readOwnJson(json: string): Promise<unknown> {
  const bytes = Buffer.from(json);
  const shape = new JsonShape(looseJsonLimits);
  shape.take(bytes);
  return isReadInTurns(bytes, shape) ? (await inTurns(parseSteps(bytes))).value : (JSON.parse(json) as unknown);
}

/** Whether a field accesses a prototype, by the rules of Fastify's JSON parser; in steps. */
export function* poisonSteps({ value, mayBePoisoned }: Parsed): Steps<boolean> {
  const nodes = mayBePoisoned ? [value] : [];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    if (typeof node !== 'object' || node === null) continue;
    if (Object.hasOwn(node, '__proto__') || hasOwnPrototype(node)) return true;
    for (const inner of Object.values(node) as unknown[]) if (typeof inner === 'object') nodes.push(inner);
    yield;
  }
  return false;
}

function hasOwnPrototype(node: object): boolean {
  if (!Object.hasOwn(node, 'constructor')) return false;
  const { constructor } = node as { constructor: unknown };
  return typeof constructor === 'object' && constructor !== null && Object.hasOwn(constructor, 'prototype');
}
