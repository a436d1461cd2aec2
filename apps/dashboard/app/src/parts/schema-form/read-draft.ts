import { t } from '@svc/chat-ui/language/t.ts';
import type { ConfigSchema } from '@svc/contract/connector-meta.ts';
import { readNumber } from '../read-number.ts';

export type Property = ConfigSchema['properties'][string];
/** The state of a form's controls by field: a text, or whether a switch is on. */
export type Draft = Readonly<Record<string, string | boolean>>;
/** The result of a form: the values that were set, or the errors, by field. */
export type ReadDraft = { ok: true; values: Record<string, unknown> } | { ok: false; faults: Record<string, string> };

/** How a field is shown: a value without a control of its own is edited as JSON. */
export type Control = 'choice' | 'switch' | 'number' | 'text' | 'long' | 'lines' | 'pairs' | 'json';

/** A text field that allows more characters has several lines. */
const lineLength = 4096;

export function controlOf(property: Property): Control {
  if (Array.isArray(property['enum'])) return 'choice';
  if (property.type === 'boolean') return 'switch';
  if (property.type === 'integer' || property.type === 'number') return 'number';
  if (property.type === 'string') return Number(property['maxLength'] ?? 0) > lineLength ? 'long' : 'text';
  if (property.type === 'object') return typeOf(property['additionalProperties']) === 'string' ? 'pairs' : 'json';
  return property.type === 'array' && ['string', 'integer', 'number'].includes(typeOf(property['items'])) ? 'lines' : 'json';
}

const typeOf = (schema: unknown): string => (schema as { type?: string } | undefined)?.type ?? '';

/** The controls for existing values; a field that is not set is empty, which means its default. */
export function toDraft(schema: ConfigSchema, values: Readonly<Record<string, unknown>>): Draft {
  return Object.fromEntries(
    Object.entries(schema.properties).map(([name, property]) => {
      const value = values[name];
      const control = controlOf(property);
      if (control === 'switch') return [name, (value ?? property.default) === true];
      if (value === undefined || value === null) return [name, ''];
      if (control === 'lines' && Array.isArray(value)) return [name, value.join('\n')];
      if (control === 'pairs') return [name, toPairs(value)];
      return [name, control === 'json' ? JSON.stringify(value, null, 2) : String(value)];
    }),
  );
}

const toPairs = (value: unknown): string =>
  Object.entries(value as Record<string, string>)
    .map(([key, text]) => `${key}=${text}`)
    .join('\n');

/** Reads the controls. An empty field is null, which resets it to its default. */
export function readDraft(schema: ConfigSchema, draft: Draft): ReadDraft {
  const values: Record<string, unknown> = {};
  const faults: Record<string, string> = {};
  for (const [name, property] of Object.entries(schema.properties)) {
    const given = draft[name] ?? '';
    if (typeof given === 'boolean') values[name] = given;
    else if (given.trim() === '') {
      values[name] = null;
      if (schema.required?.includes(name) === true && property.default === undefined) faults[name] = t('This field is required.');
    } else {
      const read = readText(property, given);
      if ('fault' in read) faults[name] = read.fault;
      else values[name] = read.value;
    }
  }
  return Object.keys(faults).length > 0 ? { ok: false, faults } : { ok: true, values };
}

type Read = { value: unknown } | { fault: string };

function readText(property: Property, given: string): Read {
  switch (controlOf(property)) {
    case 'number':
      return readNumberOf(given, property.type);
    case 'lines':
      return readLines(given, (property['items'] as { type: string }).type);
    case 'pairs':
      return readPairs(given);
    case 'json':
      return readJson(given);
    default:
      return { value: given.trim() };
  }
}

function readNumberOf(given: string, type: string): Read {
  const value = readNumber(given);
  if (type === 'integer' && !Number.isSafeInteger(value))
    return { fault: t('“{text}” is not a whole number.', { text: given.trim() }) };
  return value === null ? { fault: t('“{text}” is not a number.', { text: given.trim() }) } : { value };
}

const linesOf = (given: string): string[] =>
  given
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** `NAME=value` on each line. */
function readPairs(given: string): Read {
  const pairs = linesOf(given).map((line) => [line.split('=')[0]?.trim() ?? '', line.slice(line.indexOf('=') + 1).trim(), line]);
  const wrong = pairs.find(([name, , line = '']) => name === '' || !line.includes('='));
  if (wrong !== undefined) return { fault: t('“{line}” is not of the form NAME=value.', { line: wrong[2] ?? '' }) };
  return { value: Object.fromEntries(pairs.map(([name, value]) => [name, value])) };
}

function readLines(given: string, type: string): Read {
  const lines = linesOf(given);
  if (type === 'string') return { value: lines };
  const read = lines.map((line) => readNumberOf(line, type));
  const fault = read.find((one) => 'fault' in one);
  return fault ?? { value: read.map((one) => (one as { value: unknown }).value) };
}

function readJson(given: string): Read {
  try {
    return { value: JSON.parse(given) as unknown };
  } catch {
    return { fault: t('This is not JSON.') };
  }
}
