import { spawn } from 'node:child_process';
import type { EngineView } from '@svc/contract/engine.ts';
import { isUsedByKey } from '@svc/service-kit/config/engine-traits.ts';
import { CliError } from '../cli-error.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Hands the terminal to the vendor's own login program. Its questions and credentials stay between it and the operator: none of them pass
 * through us. `more`: options for the vendor's program, such as `--device-auth`. @throws CliError when there is nothing to log in to, or the login did not succeed.
 */
export async function logIn(engine: EngineView, env: Env, more: readonly string[] = []): Promise<void> {
  const [command, ...args] = engine.login ?? [];
  if (command === undefined) throw noLogin(engine);
  const ownEnv = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('SVC_')));
  const child = spawn(command, [...args, ...more], { stdio: 'inherit', env: ownEnv });
  // Ctrl-C is for the program in front.
  const ignore = () => undefined;
  process.on('SIGINT', ignore);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('exit', resolve);
    });
    if (code !== 0) throw new CliError(`the login of ${engine.id} did not succeed.`, { run: `./svc engine login ${engine.id}` });
  } finally {
    process.off('SIGINT', ignore);
  }
}

function noLogin({ id, installed, reason }: EngineView): CliError {
  if (!installed) return new CliError(`${id} is not installed.`, { why: reason, run: `./svc engine install ${id}` });
  if (isUsedByKey(id))
    return new CliError(`${id} is used with an API key.`, {
      why: 'It has no login that other programs may use.',
      run: `./svc engine key ${id}`,
    });
  return new CliError(`${id} needs no login.`);
}
