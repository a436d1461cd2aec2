import { parseRecordOrNull } from '@svc/contract/json-value.ts';
import { absence, type EngineLocation } from '@svc/engine-kit/engine-path.ts';
import type { EngineProbe } from '@svc/engine-kit/engine.ts';
import { notInstalled } from '@svc/engine-kit/not-installed.ts';
import { runProgram } from '@svc/service-kit/process/run-program.ts';
import type { ClaudeInstall } from './find-claude.ts';
import { keyInSettings, settingsFiles } from './key-in-settings.ts';
import { pin } from './pin.ts';

type Deps = { location: EngineLocation<ClaudeInstall>; env: Record<string, string>; cwd: string; baseUrl: string | null };

type LoginStatus = { loggedIn?: boolean; authMethod?: string; subscriptionType?: string };

const timeoutMs = 5000;

/** Checks that the SDK is installed and logged in. A login by API key does not count, because it is refused. */
export async function probeClaude({ location, env, cwd, baseUrl }: Deps): Promise<EngineProbe> {
  if (!location.found) return notInstalled(absence('The Claude Agent SDK', 'claude', location));
  const { program, version, sdkDir } = location.value;
  const base = { installed: true, version, path: sdkDir, program: [program] };
  const name =
    version === pin.version ? `Claude Agent SDK ${version}` : `Claude Agent SDK ${version} (tested with ${pin.version})`;
  if (baseUrl !== null) return { ...base, auth: 'local', ready: true, reason: `${name} uses the endpoint ${baseUrl}.` };
  const key = await keyInSettings(await settingsFiles(['user'], env, cwd));
  if (key !== null) return { ...base, auth: 'api_key', ready: false, reason: key.message };
  const answer = await runProgram(program, ['auth', 'status'], { env, cwd, timeoutMs });
  const status: LoginStatus | null = parseRecordOrNull(answer.stdout);
  if (status === null)
    return { ...base, auth: 'none', ready: false, reason: `${name} does not answer: ${answer.stderr || 'no status'}.` };
  if (status.authMethod?.startsWith('api_key') === true)
    return {
      ...base,
      auth: 'api_key',
      ready: false,
      reason: `${name} has only an API key, which is not accepted. ${howToLogIn}`,
    };
  if (status.loggedIn !== true)
    return { ...base, auth: 'none', ready: false, reason: `${name} is installed, but no one is logged in. ${howToLogIn}` };
  return {
    ...base,
    auth: 'subscription',
    ready: true,
    reason: `${name} is logged in (${status.subscriptionType ?? status.authMethod}).`,
  };
}

const howToLogIn = 'Run "./svc engine login claude".';
