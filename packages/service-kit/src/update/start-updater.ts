import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { once } from 'node:events';
import path from 'node:path';

type Start = {
  /** The clone. */
  home: string;
  /** Where what it says goes. */
  logFile: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Installs nothing: brings to an end what an earlier update has left. */
  repair?: boolean;
  /** Has the engine in use repair what cannot be installed. */
  agent?: boolean;
};

/**
 * Starts `svc update` as a process of its own, which outlives the one that calls: the service is stopped on the way.
 * @throws when it cannot be started
 */
export async function startUpdater({ home, logFile, env, repair = false, agent = false }: Start): Promise<void> {
  const log = openSync(logFile, 'a', 0o600);
  try {
    const child = spawn(
      path.join(home, 'svc'),
      ['update', ...(repair ? ['--repair'] : []), ...(agent ? ['--mode', 'agent'] : [])],
      {
        cwd: home,
        env: updaterEnv(env),
        detached: true,
        stdio: ['ignore', log, log],
      },
    );
    await once(child, 'spawn');
    child.unref();
  } finally {
    closeSync(log);
  }
}

/** Without what is of our process alone. Certificates that the operator trusts (`NODE_EXTRA_CA_CERTS`) are theirs. */
export function updaterEnv(env: Start['env']): Record<string, string | undefined> {
  const own = (name: string): boolean =>
    name === 'NODE_COMPILE_CACHE' || ['GATEWAY_', 'NODE_CHANNEL_', 'MALLOC_'].some((prefix) => name.startsWith(prefix));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !own(name)));
}
