import path from 'node:path';
import { engineEnv } from '@svc/engine-kit/engine-env.ts';
import type { EngineDeps, EngineRequest } from '@svc/engine-kit/engine.ts';
import { defaultModel } from './pin.ts';
import type { SessionHome } from './session-home.ts';
import type { TerminalHome } from './terminal-home.ts';
import { dollarVariable } from './settings.ts';
import { policyArgs } from './tool-policy.ts';

/** Names that hold for the program alone, which then cannot be set by an `.env` file of the working folder. */
const settledNames = {
  GOOGLE_API_KEY: '',
  GOOGLE_CLOUD_PROJECT: '',
  GOOGLE_CLOUD_LOCATION: '',
  GEMINI_SANDBOX: 'false',
  GEMINI_TELEMETRY_ENABLED: 'false',
  GEMINI_CLI_ACTIVITY_LOG_TARGET: '',
};

/**
 * With a proxy the program would look for the model relay and local tool servers behind it, and with exceptions from
 * it no tool server is found at all. The relay uses the proxy instead.
 */
const proxyName = /^(https?|all|no)_proxy$/i;

/** Environment of the program, by allow-list. Its key is the relay's: the vendor's never leaves the service. */
export function geminiEnv(
  deps: Pick<EngineDeps, 'env' | 'stateDir'>,
  { toolPolicy }: Pick<EngineRequest, 'toolPolicy'>,
  home: SessionHome,
  relay: { url: string; key: string },
): Record<string, string> {
  const common = Object.entries(engineEnv(deps.env, home.dir)).filter(([name]) => !proxyName.test(name));
  return {
    ...Object.fromEntries(common),
    ...settledNames,
    GEMINI_CLI_HOME: home.dir,
    // Otherwise it starts itself a second time, and a signal does not reach what really runs.
    GEMINI_CLI_NO_RELAUNCH: 'true',
    GEMINI_API_KEY: relay.key,
    GOOGLE_GEMINI_BASE_URL: relay.url,
    NODE_COMPILE_CACHE: path.join(deps.stateDir, 'compile-cache'),
    [dollarVariable]: '$',
    GEMINI_SYSTEM_MD: home.systemFile,
    ...(toolPolicy === 'none' && { GEMINI_CLI_TRUST_WORKSPACE: 'false' }),
  };
}

/** Arguments for one turn. The prompt goes to stdin, which holds more than an argument may. */
export function geminiArgs(request: EngineRequest, home: SessionHome, filesDir: string | null): string[] {
  return [
    '--prompt',
    '',
    '--output-format',
    'stream-json',
    `--model=${request.model ?? defaultModel}`,
    '--extensions',
    'none',
    home.isNew ? '--session-id' : '--resume',
    home.id,
    ...policyArgs(request.toolPolicy, home.rulesFile),
    ...(filesDir === null ? [] : ['--include-directories', filesDir]),
  ];
}

/**
 * Environment of the program in a terminal. It has the key itself and speaks to the model service without the relay of the turns,
 * because it outlives the service; who sits there has every right anyway.
 */
export function terminalEnv(
  { env, stateDir, baseUrl }: Pick<EngineDeps, 'env' | 'stateDir' | 'baseUrl'>,
  home: TerminalHome,
  key: string | null,
): Record<string, string> {
  return {
    ...engineEnv(env, home.dir),
    GEMINI_CLI_HOME: home.dir,
    GEMINI_API_KEY: key ?? 'local', // without one it would ask for it
    ...(baseUrl !== null && { GOOGLE_GEMINI_BASE_URL: baseUrl }),
    NODE_COMPILE_CACHE: path.join(stateDir, 'compile-cache'),
  };
}

export const terminalArgs = (home: TerminalHome, model: string | null): string[] => [
  `--model=${model ?? defaultModel}`,
  home.isNew ? '--session-id' : '--resume',
  home.id,
];
