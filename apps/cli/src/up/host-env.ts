import type { HostName } from '../service-urls.ts';

type Env = Readonly<Record<string, string | undefined>>;

const named = new Set(['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR']);
/** Keys to the vault are for those who ask it. */
const notFor: Partial<Record<HostName, readonly string[]>> = {
  collector: ['SVC_VAULT_AGENT_KEY', 'SVC_VAULT_ADMIN_KEY'],
  vault: ['SVC_VAULT_AGENT_KEY'],
};

const isForEveryHost = (name: string) => named.has(name) || name.startsWith('NODE_') || name.startsWith('SVC_');

/**
 * What a host process gets of our environment. The core starts engines, which know their logins by variables of their
 * own, so it gets all; the others get no more than they read.
 */
export function hostEnv(name: HostName, env: Env): Record<string, string> {
  const all = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(name === 'core' ? all : all.filter(([key]) => isForEveryHost(key) && !notFor[name]?.includes(key)));
}
