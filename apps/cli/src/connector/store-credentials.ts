import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { Instance } from '@svc/contract/instance.ts';
import { CliError } from '../cli-error.ts';
import { visibleLine } from '../terminal.ts';
import type { SecretInput } from '../vault/secret-input.ts';
import type { ConnectorApi } from './connector-api.ts';
import { fieldOf } from './parse-fields.ts';

type Deps = { api: Pick<ConnectorApi, 'storeSecret'>; input: SecretInput; say: (text: string) => void };
type Asked = { meta: ConnectorMeta; fields: readonly string[]; instances: readonly Instance[]; config: Record<string, unknown> };

/**
 * Reads the values of credentials, stores them as secrets, and returns the names for the config. A
 * secret that the config already names keeps its name and gets the new value.
 */
export async function storeCredentials({ api, input, say }: Deps, asked: Asked): Promise<Record<string, string>> {
  const { meta, fields, instances, config } = asked;
  const names: Record<string, string> = {};
  for (const field of fields) {
    if (!meta.credentialKeys.includes(field)) throw notCredential(meta, field);
    const { title } = fieldOf(meta.type, meta.configSchema.properties, field);
    const name = nameIn(config, field) ?? secretName(meta, field, instances);
    const value = (await input.line(`${visibleLine(title)} (it is not shown): `)).trim();
    if (value === '') throw new CliError(`no value was given for "${field}".`, { why: 'Type it when asked, or pipe it in.' });
    const { stored_in } = await api.storeSecret(name, value);
    say(`The secret is kept as ${name} in the ${stored_in === 'vault' ? 'vault' : 'secrets file, which only you can read'}.`);
    names[field] = name;
  }
  return names;
}

const nameIn = (config: Record<string, unknown>, field: string): string | null => {
  const name = config[field];
  return typeof name === 'string' && name !== '' ? name : null;
};

const notCredential = ({ type, credentialKeys }: ConnectorMeta, field: string) =>
  new CliError(`"${field}" is not a credential of ${type}.`, {
    why: credentialKeys.length === 0 ? 'It has none.' : `It has ${credentialKeys.join(', ')}.`,
  });

/** A name for a secret of a new instance, such as `MESSENGER_BOT_TOKEN`, that no other instance uses. */
export function secretName({ type }: Pick<ConnectorMeta, 'type'>, field: string, instances: readonly Instance[]): string {
  const words = `${type}_${field.replace(/_secret_key$|_secret$|_key$/, '')}`;
  const name = words
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replace(/^SVC_/, 'CONNECTOR_');
  const taken = new Set(instances.flatMap(({ config }) => Object.values(config)));
  if (!taken.has(name)) return name;
  for (let number = 2; ; number++) if (!taken.has(`${name}_${number}`)) return `${name}_${number}`;
}
