import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { once } from 'node:events';
import path from 'node:path';

type Start = {
  /** The clone. */
  home: string;
  /** The file for its output. */
  logFile: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Installs nothing, but completes what an interrupted update has left. */
  repair?: boolean;
  /** Asks the engine in use to repair an update that cannot be installed. */
  agent?: boolean;
};

/**
 * Starts `svc update` as a detached process that outlives its caller, because it stops the service meanwhile.
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

/** Removes variables that concern this process only. `NODE_EXTRA_CA_CERTS` stays, because the operator sets it. */
export function updaterEnv(env: Start['env']): Record<string, string | undefined> {
  const own = (name: string): boolean =>
    ['NODE_COMPILE_CACHE', 'GATEWAY_', 'NODE_CHANNEL_', 'MALLOC_'].some((prefix) => name.startsWith(prefix));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !own(name)));
}
