import path from 'node:path';
import { engineEnv } from '@svc/engine-kit/engine-env.ts';
import type { EngineDeps, EngineRequest } from '@svc/engine-kit/engine.ts';
import { defaultModel } from './pin.ts';
import type { SessionHome } from './session-home.ts';
import type { TerminalHome } from './terminal-home.ts';
import { dollarVariable } from './settings.ts';
import { policyArgs } from './tool-policy.ts';

/** Variables set for the program alone, so that an `.env` file of the working folder cannot set them. */
const settledNames = {
  GOOGLE_API_KEY: '',
  GOOGLE_CLOUD_PROJECT: '',
  GOOGLE_CLOUD_LOCATION: '',
  GEMINI_SANDBOX: 'false',
  GEMINI_TELEMETRY_ENABLED: 'false',
  GEMINI_CLI_ACTIVITY_LOG_TARGET: '',
};

/**
 * With a proxy, the program would try to reach the model relay and local tool servers through it; with exceptions from it, no tool server
 * is found at all. So the relay uses the proxy instead.
 */
const proxyName = /^(https?|all|no)_proxy$/i;

/** The program's environment, from an allow-list. Its key is that of the relay: the vendor's key never leaves the service. */
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
    // Otherwise it restarts itself, and a signal does not reach the process that really runs.
    GEMINI_CLI_NO_RELAUNCH: 'true',
    GEMINI_API_KEY: relay.key,
    GOOGLE_GEMINI_BASE_URL: relay.url,
    NODE_COMPILE_CACHE: path.join(deps.stateDir, 'compile-cache'),
    [dollarVariable]: '$',
    GEMINI_SYSTEM_MD: home.systemFile,
    ...(toolPolicy === 'none' && { GEMINI_CLI_TRUST_WORKSPACE: 'false' }),
  };
}

/** Arguments for one turn. The prompt is passed over stdin, because an argument has a limited length. */
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
 * The program's environment in a terminal. It has the key itself and connects to the model service without the relay of the turns, because
 * it outlives the service; the person at the terminal has all rights anyway.
 */
export function terminalEnv(
  { env, stateDir, baseUrl }: Pick<EngineDeps, 'env' | 'stateDir' | 'baseUrl'>,
  home: TerminalHome,
  key: string | null,
): Record<string, string> {
  return {
    ...engineEnv(env, home.dir),
    GEMINI_CLI_HOME: home.dir,
    GEMINI_API_KEY: key ?? 'local', // without one it would ask the person for it
    ...(baseUrl !== null && { GOOGLE_GEMINI_BASE_URL: baseUrl }),
    NODE_COMPILE_CACHE: path.join(stateDir, 'compile-cache'),
  };
}

export const terminalArgs = (home: TerminalHome, model: string | null): string[] => [
  `--model=${model ?? defaultModel}`,
  home.isNew ? '--session-id' : '--resume',
  home.id,
];
