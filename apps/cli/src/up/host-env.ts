import { engineHomeNames } from '@svc/service-kit/config/engine-traits.ts';
import { userProofVariable } from '@svc/service-kit/http/remote-users.ts';
import { isForNpm } from '@svc/service-kit/packages/npm-program.ts';
import type { HostName } from '../service-urls.ts';

type Env = Readonly<Record<string, string | undefined>>;

const named = new Set(['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR']);
/** Vault keys are only for the processes that use the vault. */
const notFor: Partial<Record<HostName, readonly string[]>> = {
  collector: ['SVC_VAULT_AGENT_KEY', 'SVC_VAULT_ADMIN_KEY'],
  dashboard: ['SVC_VAULT_AGENT_KEY', 'SVC_VAULT_ADMIN_KEY'],
  vault: ['SVC_VAULT_AGENT_KEY', 'SVC_CORE_TOKEN'],
};

/** The collector exports to OpenTelemetry, which is configured by its own variables. */
const alsoFor: Partial<Record<HostName, string>> = { collector: 'OTEL_' };

/** Custom locations of engine transcripts and tmux sockets, and the variables with which git reaches the remote of updates. */
const namesFor: Partial<Record<HostName, readonly string[]>> = {
  collector: [...engineHomeNames, 'TMUX_TMPDIR', 'SSH_AUTH_SOCK', 'GIT_SSH', 'GIT_SSH_COMMAND'],
};

/** Variables for processes that run npm or check for updates. */
const networkHosts: readonly HostName[] = ['manager', 'collector', 'dashboard'];

/** For processes that record who did something: they need a verified name, which the dashboard proves. */
const proofHosts: readonly HostName[] = ['core', 'collector', 'dashboard'];

const isForEveryHost = (name: string) =>
  named.has(name) || ['NODE_', 'SVC_', 'MALLOC_'].some((prefix) => name.startsWith(prefix));

/**
 * glibc's allocator keeps freed memory between other blocks, the more the larger a block was. From this size on memory is
 * requested from the system, which gets it back as soon as it is freed: large bodies are held in such blocks. A socket read
 * takes 64 KiB for a moment: requested from the system, it would cost a turn some ten page faults. Other systems ignore these variables.
 */
const allocator = { MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '65536' };

/**
 * The part of our environment for a host process. The core starts engines, which find their logins by variables of their
 * own, so it gets everything; the others get only what they read. `userProof`: the secret of this start.
 */
export function hostEnv(name: HostName, env: Env, userProof?: string): Record<string, string> {
  const all = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const isFor = (key: string) =>
    isForEveryHost(key) ||
    key.startsWith(alsoFor[name] ?? 'SVC_') ||
    namesFor[name]?.includes(key) === true ||
    (networkHosts.includes(name) && isForNpm(key));
  const own = name === 'core' ? all : all.filter(([key]) => isFor(key) && !notFor[name]?.includes(key));
  const result = { ...allocator, ...Object.fromEntries(own) };
  return userProof !== undefined && proofHosts.includes(name) ? { ...result, [userProofVariable]: userProof } : result;
}
