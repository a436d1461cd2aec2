import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { Instance } from '@svc/contract/instance.ts';

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
