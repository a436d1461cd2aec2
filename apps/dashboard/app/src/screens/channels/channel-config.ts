import { t } from '@svc/chat-ui/language/t.ts';
import type { ConfigSchema, ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { Instance } from '@svc/contract/instance.ts';

/** A secret by the name under which it is kept. */
export type NamedSecret = { name: string; value: string };
type Wanted = {
  meta: Pick<ConnectorMeta, 'type' | 'credentialKeys' | 'configSchema'>;
  values: Readonly<Record<string, unknown>>;
  instance: Instance | null;
  instances: readonly Instance[];
};

/** What the form asks for: a secret that is kept already need not be typed again. */
export function schemaOf({ configSchema, credentialKeys }: ConnectorMeta, instance: Instance | null): ConfigSchema {
  const isKept = (name: string) => credentialKeys.includes(name) && typeof instance?.config[name] === 'string';
  // Rules of one that is there have a form of their own.
  const asked = Object.entries(configSchema.properties).filter(
    ([, property]) => instance === null || property['enforcedBy'] !== 'core',
  );
  const properties = Object.fromEntries(
    asked.map(([name, property]) => {
      if (!credentialKeys.includes(name)) return [name, property];
      const description = isKept(name)
        ? t('Already stored; type another one to replace it.')
        : secretWords(String(property['description'] ?? ''));
      // Of what is typed, not of the name under which it is kept.
      return [name, { type: 'string', title: property.title, description }];
    }),
  );
  return { ...configSchema, required: (configSchema.required ?? []).filter((name) => !isKept(name)), properties };
}

/** What a connector says of the name under which a secret is kept, as words about the secret. */
function secretWords(description: string): string {
  const what = description.replace(/^Name of (?:the|a) secret (?:with )?/, '');
  return what === description ? description : t('Stored with the secrets: {what}', { what });
}

/** The config with the names of its secrets in place of what was typed, and what is to be kept under them. */
export function namedSecrets({ meta, values, instance, instances }: Wanted): {
  config: Record<string, unknown>;
  secrets: NamedSecret[];
} {
  // What is not set stands for its default; what is saved replaces all.
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
      const name = typeof kept === 'string' && kept !== '' ? kept : freeName(meta.type, field, instances);
      config[field] = name;
      secrets.push({ name, value: typed });
    }
  }
  return { config, secrets };
}

/** Such as `MESSENGER_BOT_TOKEN`; one that no other channel uses. */
function freeName(type: string, field: string, instances: readonly Instance[]): string {
  const name = `${type}_${field.replace(/_secret_key$|_secret$|_key$/, '')}`
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replace(/^SVC_/, 'CONNECTOR_');
  const taken = new Set(instances.flatMap(({ config }) => Object.values(config)));
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name}_${number}`;
    if (!taken.has(candidate)) return candidate;
  }
}
