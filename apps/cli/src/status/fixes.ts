import path from 'node:path';
import type { Instance } from '@svc/contract/instance.ts';
import { findFreePort } from '@svc/supervisor/port-owner.ts';
import { quoted } from '../terminal.ts';

/** What to type to have an instance well again; `reason` is what is wrong with it. */
export async function fixOfInstance(
  { id, type, status, config }: Pick<Instance, 'id' | 'type' | 'status' | 'config'>,
  reason: string | null,
  { host, instancesDir }: { host: string; instancesDir: string },
): Promise<string> {
  if (status === 'waiting') return './svc vault unseal';
  const port = Number(/^Port (\d{1,5}) (?:is in use|belongs to)/.exec(reason ?? '')?.[1] ?? 0);
  const field = Object.entries(config).find(([, value]) => value === port)?.[0];
  if (port > 0 && field !== undefined)
    return `./svc connector config ${quoted(id)} --set ${field}=${await findFreePort(host, port)}`;
  if (type === 'compat' && reason?.startsWith('The keys file lets nobody in: it does not exist') === true)
    return newKeysFile(
      path.resolve(instancesDir, id, typeof config['keys_file'] === 'string' ? config['keys_file'] : 'keys.json'),
    );
  return status !== 'failed' && status !== 'stopped'
    ? `./svc connector logs ${quoted(id)}`
    : `./svc connector restart ${quoted(id)}`;
}

/** With a key for the owner, as the first start makes one. */
const newKeysFile = (file: string): string =>
  `(umask 077; printf '{"keys":[{"key":"sk-svc-%s","identity":"owner"}]}\\n' "$(openssl rand -hex 24)" >${quoted(file)})`;
