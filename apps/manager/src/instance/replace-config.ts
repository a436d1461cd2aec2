import { isDeepStrictEqual } from 'node:util';
import type { ConfigSchema, ConnectorMeta } from '@svc/contract/connector-meta.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';
import type { ConfigValidator } from '../connector-type/validate-config.ts';
import { checkSecretNames } from './check-secret-names.ts';

type Config = Record<string, unknown>;
type Change = { id: string; meta: ConnectorMeta; validate: ConfigValidator; before: Config; sent: Config };

/**
 * The config that replaces `before`, with defaults filled in. `sent` is the complete config; null resets a setting to its
 * default. Throws `bad_request` when it is invalid for the type, contains a secret instead of its name, or leaves out a
 * stored setting that differs from its default.
 */
export function replaceConfig({ id, meta, validate, before, sent }: Change): Config {
  const given = Object.entries(sent).filter(([name, value]) => value !== null || takesNull(meta.configSchema, name));
  const after = validate(meta, Object.fromEntries(given));
  const lost = Object.keys(before).filter(
    (name) =>
      !Object.hasOwn(sent, name) && isKnown(meta.configSchema, name) && !isDeepStrictEqual(own(before, name), own(after, name)),
  );
  if (lost.length > 0) throw wouldLose(id, lost);
  checkSecretNames(meta, after, before);
  return after;
}

const own = (config: Config, name: string): unknown => (Object.hasOwn(config, name) ? config[name] : undefined);

/** A setting that its type no longer has is no loss. */
const isKnown = (schema: ConfigSchema & { additionalProperties?: unknown }, name: string): boolean =>
  Object.hasOwn(schema.properties, name) || (schema.additionalProperties ?? false) !== false;

function takesNull({ properties }: ConfigSchema, name: string): boolean {
  const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (property === undefined) return false;
  const types: unknown[] = [property.type].flat();
  return property['nullable'] === true || types.includes('null');
}

function wouldLose(id: string, lost: string[]) {
  const names = lost.length === 1 ? `the stored setting ${lost[0]}` : `the stored settings ${lost.join(', ')}`;
  return badRequest(
    `A config replaces the whole stored one, and this one would lose ${names}. Send all settings, also unchanged ones ` +
      `(GET /instances/${id} shows them); null resets one to its default.`,
    { fields: lost.map((name) => ({ field: `config.${name}`, problem: 'is stored and would be lost' })) },
  );
}
