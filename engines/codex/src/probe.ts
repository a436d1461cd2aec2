import { absence, type EngineLocation } from '@svc/engine-kit/engine-path.ts';
import type { EngineAuth, EngineProbe } from '@svc/engine-kit/engine.ts';
import { notInstalled } from '@svc/engine-kit/not-installed.ts';
import { runProgram } from '@svc/service-kit/process/run-program.ts';
import type { CodexProgram } from './find-codex.ts';
import { pin } from './pin.ts';

type Deps = {
  location: EngineLocation<CodexProgram>;
  env: Record<string, string>;
  cwd: string;
  baseUrl: string | null;
  /** True when a key was given, which needs no login. */
  isByKey: boolean;
};

const timeoutMs = 5000;

/** Checks that codex is installed and usable: with a self-hosted endpoint, or with a login. */
export async function probeCodex({ location, env, cwd, baseUrl, isByKey }: Deps): Promise<EngineProbe> {
  if (!location.found) return notInstalled(absence('Codex', 'codex', location));
  const { program } = location.value;
  const [version, login] = await Promise.all([
    runProgram(program, ['--version'], { env, cwd, timeoutMs }),
    baseUrl === null && !isByKey ? runProgram(program, ['login', 'status'], { env, cwd, timeoutMs }) : null,
  ]);
  const number = /\d+\.\d+\.\d+\S*/.exec(version.stdout)?.[0] ?? null;
  if (number === null)
    return { ...notInstalled(`Codex is not installed (${program} does not answer: ${version.stderr}).`), path: program };
  const auth = isByKey ? 'api_key' : login === null ? 'local' : authOf(login.code, `${login.stdout}\n${login.stderr}`);
  return {
    installed: true,
    version: number,
    path: program,
    auth,
    ready: auth !== 'none',
    reason: reasonOf(auth, number, baseUrl, isByKey),
    program: [program],
  };
}

function authOf(code: number | null, output: string): EngineAuth {
  if (code !== 0) return 'none';
  return /API key/i.test(output) ? 'api_key' : 'subscription';
}

function reasonOf(auth: EngineAuth, version: string, baseUrl: string | null, isByKey: boolean): string {
  const name = version === pin.version ? `Codex ${version}` : `Codex ${version} (tested with ${pin.version})`;
  if (auth === 'local') return `${name} uses the endpoint ${baseUrl}.`;
  if (auth === 'none') return `${name} is installed, but no one is logged in. Log in with "./svc engine login codex".`;
  if (isByKey) return `${name} has an API key, so every turn is billed.`;
  return auth === 'api_key'
    ? `${name} is logged in with an API key, so every turn is billed.`
    : `${name} is logged in with a subscription.`;
}
