import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import { CliError } from '../cli-error.ts';

type Field = ConnectorMeta['configSchema']['properties'][string];

/** Converts typed fields to the types of the schema. The manager checks them against the rest of it. */
export function parseFields(meta: ConnectorMeta, typed: Readonly<Record<string, string>>): Record<string, unknown> {
  const { type, configSchema, credentialKeys } = meta;
  const entries = Object.entries(typed).map(([name, text]) => {
    const field = fieldOf(type, configSchema.properties, name);
    if (credentialKeys.includes(name)) checkSecretName(name, text);
    return [name, parseField(name, field, text)];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}

/** A token typed instead of the name of a secret is not repeated: it would end up in the config, and in messages. */
function checkSecretName(field: string, text: string): void {
  if (/^(?:[A-Za-z_][\w.:/-]{0,63})?$/.test(text)) return;
  throw new CliError(`"${field}" takes the name of a secret, not its value.`, {
    why: `Leave it out and use --secret ${field}: the value is then typed or piped in.`,
  });
}

export function fieldOf(type: string, fields: Readonly<Record<string, Field>>, name: string): Field {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (field !== undefined) return field;
  throw new CliError(`${type} has no setting "${name}".`, { why: `It has ${Object.keys(fields).join(', ') || 'none'}.` });
}

export function parseField(name: string, field: Field, text: string): unknown {
  switch (field.type) {
    case 'integer':
    case 'number':
      return parseNumber(name, text);
    case 'boolean':
      return parseSwitch(name, text);
    case 'array':
      return /^\s*\[/.test(text) ? parseJson(name, field, text) : parseList(name, field, text);
    case 'object':
      return parseJson(name, field, text);
    default:
      return text;
  }
}

function parseNumber(name: string, text: string): number {
  const number = Number(text);
  if (text.trim() !== '' && Number.isFinite(number)) return number;
  throw new CliError(`"${name}" takes a number, not "${text}".`);
}

const switches: Readonly<Record<string, boolean>> = { true: true, yes: true, on: true, false: false, no: false, off: false };

function parseSwitch(name: string, text: string): boolean {
  const value = switches[text.trim().toLowerCase()];
  if (value !== undefined) return value;
  throw new CliError(`"${name}" takes "on" or "off".`);
}

/** `a, b` for lists of plain values, JSON for other lists. */
function parseList(name: string, field: Field, text: string): unknown[] {
  const items = field['items'] as Field | undefined;
  if (items?.type === 'object') return parseJson(name, field, `[${text}]`) as unknown[];
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => (items === undefined ? part : parseField(name, items, part)));
}

/** Invalid JSON is refused with the description of the setting, which shows its form. */
function parseJson(name: string, { description }: Field, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const why = [description, (error as Error).message].filter((part) => typeof part === 'string').join('\n');
    throw new CliError(`"${name}" takes JSON.`, { why, cause: error });
  }
}
