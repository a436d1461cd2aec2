import { t } from '@svc/chat-ui/language/t.ts';
import type { ConfigSchema, ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { Instance } from '@svc/contract/instance.ts';

/** A secret by the name under which it is kept. */
export type NamedSecret = { name: string; value: string };
type Wanted = {
  meta: Pick<ConnectorMeta, 'type' | 'credentialKeys' | 'configSchema'>;
  values: Readonly<Record<string, unknown>>;
  instance: Instance | null;
  /** Names in use: a secret under one of them would be replaced. */
  taken: ReadonlySet<unknown>;
};

/** The fields of the form: a secret that is already stored is not required again. */
export function schemaOf({ configSchema, credentialKeys }: ConnectorMeta, instance: Instance | null): ConfigSchema {
  const isKept = (name: string) => credentialKeys.includes(name) && typeof instance?.config[name] === 'string';
  // The rules of an existing channel have their own form.
  const asked = Object.entries(configSchema.properties).filter(
    ([, property]) => instance === null || property['enforcedBy'] !== 'core',
  );
  const properties = Object.fromEntries(
    asked.map(([name, property]) => {
      if (!credentialKeys.includes(name)) return [name, property];
      const description = isKept(name)
        ? t('Already stored; type another one to replace it.')
        : secretWords(String(property['description'] ?? ''));
      // The limit applies to the typed secret, not to the name it is stored under.
      return [name, { type: 'string', title: property.title, description }];
    }),
  );
  return { ...configSchema, required: (configSchema.required ?? []).filter((name) => !isKept(name)), properties };
}

/** Turns a connector's description of a secret's name into one of the secret itself. */
function secretWords(description: string): string {
  const what = description.replace(/^Name of (?:the|a) secret (?:with )?/, '');
  return what === description ? description : t('Stored with the secrets: {what}', { what });
}

/** The config with names in place of the typed secrets, and the secrets to store under these names. */
export function namedSecrets({ meta, values, instance, taken }: Wanted): {
  config: Record<string, unknown>;
  secrets: NamedSecret[];
} {
  // A missing value means its default, because saving replaces all settings.
  const rules = Object.entries(instance?.config ?? {}).filter(
    ([name]) => meta.configSchema.properties[name]?.['enforcedBy'] === 'core',
  );
  const given = Object.entries(values).filter(([, value]) => value !== null);
  const config: Record<string, unknown> = Object.fromEntries([...(instance === null ? [] : rules), ...given]);
  const secrets: NamedSecret[] = [];
  for (const field of meta.credentialKeys) {
    const typed = values[field];
    const kept = instance?.config[field];
    if (typeof typed !== 'string') {
      if (typeof kept === 'string') config[field] = kept;
    } else {
      const name = typeof kept === 'string' && kept !== '' ? kept : freeName(meta.type, field, taken);
      config[field] = name;
      secrets.push({ name, value: typed });
    }
  }
  return { config, secrets };
}

/** A name such as `MESSENGER_BOT_TOKEN` that is not taken. */
function freeName(type: string, field: string, taken: Wanted['taken']): string {
  const name = `${type}_${field.replace(/_secret_key$|_secret$|_key$/, '')}`
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replace(/^SVC_/, 'CONNECTOR_');
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name}_${number}`;
    if (!taken.has(candidate)) return candidate;
  }
}
