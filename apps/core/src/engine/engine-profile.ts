import type { EngineConnection } from '@svc/contract/engine.ts';
import type { EngineAuth } from '@svc/engine-kit/engine.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import { isLoopbackUrl } from '@svc/service-kit/http/loopback.ts';
import { engineTraits } from '@svc/service-kit/config/engine-traits.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import { BehindVault } from '@svc/service-kit/vault/behind-vault.ts';
import type { Secrets } from '../secret/secrets.ts';
import type { EngineSettings } from './engine-settings.ts';
import type { EngineId } from './load-engine.ts';
import { isOpenRouter, openRouter } from './open-router.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** How an engine is run now: the operator's settings, overridden by the environment. */
export type EngineProfile = {
  connection: EngineConnection;
  /** True when a key is available. */
  hasKey: boolean;
  /** The key to use; null in subscription mode. */
  apiKey: Secret | null;
  /** Why the key that should be used is not available: it may be in a vault that is sealed or unreachable. */
  keyFault: BehindVault | null;
  /** The environment of the engine; a key in it is used only in API-key mode. */
  env: Env;
  baseUrl: string | null;
  model: string | null;
  billing: EngineConnection | null;
};

/** The engines' settings in the environment: paths of programs, and endpoints. */
export type EngineEnv = Pick<
  CoreSettings,
  'claudePath' | 'claudeBaseUrl' | 'codexPath' | 'codexBaseUrl' | 'geminiPath' | 'geminiBaseUrl'
>;

type Deps = { settings: EngineEnv; engineSettings: EngineSettings; secrets: Pick<Secrets, 'ask'>; env: Env };

/** Reads the engine's key where one may be needed, so a secret command may run. Must not be called on the path of a turn. */
export async function readProfile({ settings, engineSettings, secrets, env }: Deps, id: EngineId): Promise<EngineProfile> {
  const stored = engineSettings.read(id);
  const baseUrl = baseUrlOf(id, settings) ?? stored.base_url;
  const { keyNames: names, loginArgs, takesEndpoint } = engineTraits[id];
  const isRouted = takesEndpoint && isOpenRouter(baseUrl);
  const vendor = isRouted ? openRouter.keyName : names?.vendor;
  const found = names === null || vendor === undefined ? null : await firstKey(secrets, [names.own, vendor]);
  const [key, behindVault] = found instanceof BehindVault ? [null, found] : [found, null];
  const connection = stored.connection ?? defaultConnection(found !== null, loginArgs === null || isRouted);
  return {
    connection,
    hasKey: key !== null,
    apiKey: connection === 'api_key' ? key : null,
    keyFault: connection === 'api_key' && behindVault !== null ? keyFault(id, behindVault) : null,
    env: names === null || (takesEndpoint && stored.connection === null) ? env : without(env, names.vendor),
    baseUrl,
    model: stored.model,
    billing: stored.billing,
  };
}

/** Without a login (OpenRouter has none at all), an available key is meant to be used. */
const defaultConnection = (hasKey: boolean, takesKeys: boolean): EngineConnection =>
  takesKeys && hasKey ? 'api_key' : 'subscription';

/** The key under one of the names; or else that the vault may have one. */
async function firstKey(secrets: Pick<Secrets, 'ask'>, names: readonly string[]): Promise<Secret | BehindVault | null> {
  let behindVault: BehindVault | null = null;
  for (const name of names) {
    const found = await secrets.ask(name);
    if (found !== null && !(found instanceof BehindVault)) return found;
    behindVault ??= found;
  }
  return behindVault;
}

const keyFault = (id: EngineId, { vault }: BehindVault): BehindVault =>
  new BehindVault(`${id} cannot answer: its API key`, vault);

/** How a turn is paid. A key that is sent to a custom endpoint is billed there. */
export function authOf({ billing, apiKey, baseUrl }: EngineProfile, found: EngineAuth): EngineAuth {
  if (billing !== null) return billing;
  return found === 'local' && apiKey !== null && baseUrl !== null && !isLoopbackUrl(baseUrl) ? 'api_key' : found;
}

/** The endpoint from the environment, which takes precedence. */
export function baseUrlOf(id: EngineId, settings: EngineEnv): string | null {
  switch (id) {
    case 'claude':
      return settings.claudeBaseUrl;
    case 'codex':
      return settings.codexBaseUrl;
    case 'gemini':
      return settings.geminiBaseUrl;
    case 'offline':
      return null;
  }
}

/** The path of the program in the settings, which comes before any other place. */
export function pathOf(id: EngineId, settings: EngineEnv): string | null {
  switch (id) {
    case 'claude':
      return settings.claudePath;
    case 'codex':
      return settings.codexPath;
    case 'gemini':
      return settings.geminiPath;
    case 'offline':
      return null;
  }
}

const without = (env: Env, name: string): Env => ({ ...env, [name]: undefined });
