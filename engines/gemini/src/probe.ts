import { existsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { absence, type EngineLocation } from '@svc/engine-kit/engine-path.ts';
import type { EngineDeps, EngineProbe } from '@svc/engine-kit/engine.ts';
import { notInstalled } from '@svc/engine-kit/not-installed.ts';
import type { GeminiInstall } from './find-gemini.ts';
import { pin } from './pin.ts';

type Deps = Pick<EngineDeps, 'baseUrl' | 'env'> & { location: EngineLocation<GeminiInstall>; hasKey: boolean };

/** Checks that the program is installed, and has a key or a self-hosted endpoint. */
export function probeGemini({ location, baseUrl, env, hasKey }: Deps): EngineProbe {
  if (!location.found) {
    const reason = absence('Gemini CLI', 'gemini', location);
    return notInstalled(reason);
  }
  const { version, packageDir, script } = location.value;
  const base = { installed: true, version, path: packageDir, program: [process.execPath, script] };
  const name = version === pin.version ? `Gemini CLI ${version}` : `Gemini CLI ${version} (tested with ${pin.version})`;
  if (baseUrl !== null) return { ...base, auth: 'local', ready: true, reason: `${name} uses the endpoint ${baseUrl}.` };
  if (hasKey) {
    return { ...base, auth: 'api_key', ready: true, reason: `${name} has an API key, so every turn is billed.` };
  }
  const login = hasLogin(env) ? ' It has a Google login, but the vendor allows that only in its own program.' : '';
  const reason = `${name} is installed but has no API key.${login} Run "./svc engine key gemini", or set GEMINI_API_KEY.`;
  return { ...base, auth: 'none', ready: false, reason };
}

const hasLogin = (env: EngineDeps['env']): boolean =>
  existsSync(path.join(env.GEMINI_CLI_HOME ?? env.HOME ?? os.homedir(), '.gemini/oauth_creds.json'));
