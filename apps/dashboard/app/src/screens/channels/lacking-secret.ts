import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { Instance } from '@svc/contract/instance.ts';

/** The name of the missing secret because of which a channel stopped; null for any other reason. */
export function lackingSecret(instance: Instance, meta: ConnectorMeta | undefined): string | null {
  const { enabled, status, config } = instance;
  // Between two attempts it is starting; its last end has the reason.
  const reason = instance.reason ?? instance.last_exit?.reason ?? null;
  if (meta === undefined || reason === null || !enabled || status === 'running' || status === 'waiting') return null;
  const names = meta.credentialKeys.map((field) => config[field]).filter((name) => typeof name === 'string' && name !== '');
  return (names as string[]).find((name) => reason.includes(name)) ?? null;
}
