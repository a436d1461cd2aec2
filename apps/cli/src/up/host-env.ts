import { engineHomeNames } from '@svc/service-kit/config/engine-traits.ts';
import { userProofVariable } from '@svc/service-kit/http/remote-users.ts';
import { isForNpm } from '@svc/service-kit/packages/npm-program.ts';
import type { HostName } from '../service-urls.ts';

type Env = Readonly<Record<string, string | undefined>>;

const named = new Set(['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR']);
/** Keys to the vault are for those who ask it. */
const notFor: Partial<Record<HostName, readonly string[]>> = {
  collector: ['SVC_VAULT_AGENT_KEY', 'SVC_VAULT_ADMIN_KEY'],
  dashboard: ['SVC_VAULT_AGENT_KEY', 'SVC_VAULT_ADMIN_KEY'],
  vault: ['SVC_VAULT_AGENT_KEY', 'SVC_CORE_TOKEN'],
};

/** The collector exports to OpenTelemetry, which is set up by variables of its own. */
const alsoFor: Partial<Record<HostName, string>> = { collector: 'OTEL_' };

/** Where engines keep their transcripts, and tmux its sockets, when it is not the usual place. By what git reaches a remote, which is asked for updates. */
const namesFor: Partial<Record<HostName, readonly string[]>> = {
  collector: [...engineHomeNames, 'TMUX_TMPDIR', 'SSH_AUTH_SOCK', 'GIT_SSH', 'GIT_SSH_COMMAND'],
};

/** They run npm, or what asks for updates. */
const networkers: readonly HostName[] = ['manager', 'collector', 'dashboard'];

/** They write down who did something, so they have to know a name that is proven; the dashboard proves it. */
const believers: readonly HostName[] = ['core', 'collector', 'dashboard'];

const isForEveryHost = (name: string) =>
  named.has(name) || ['NODE_', 'SVC_', 'MALLOC_'].some((prefix) => name.startsWith(prefix));

/**
 * The allocator of glibc keeps what was freed between other things, and keeps more the larger a piece was. From this size on memory is
 * asked of the system itself, which gets it back as soon as it is free: large bodies are held in such pieces. Each read of a socket
 * takes 64 KiB, free again a moment later: asked of the system they would cost a turn some ten page faults. Other systems do not read these.
 */
const allocator = { MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '65536' };

/**
 * What a host process gets of our environment. The core starts engines, which know their logins by variables of their
 * own, so it gets all; the others get no more than they read. `userProof`: the secret of this start.
 */
export function hostEnv(name: HostName, env: Env, userProof?: string): Record<string, string> {
  const all = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const isFor = (key: string) =>
    isForEveryHost(key) ||
    key.startsWith(alsoFor[name] ?? 'SVC_') ||
    namesFor[name]?.includes(key) === true ||
    (networkers.includes(name) && isForNpm(key));
  const own = name === 'core' ? all : all.filter(([key]) => isFor(key) && !notFor[name]?.includes(key));
  const result = { ...allocator, ...Object.fromEntries(own) };
  return userProof !== undefined && believers.includes(name) ? { ...result, [userProofVariable]: userProof } : result;
}
