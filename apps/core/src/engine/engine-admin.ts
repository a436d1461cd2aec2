import type { BaseUrlSet, EngineConnection, EngineView } from '@svc/contract/engine.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import { endpointEngine, engineTraits } from '@svc/service-kit/config/engine-traits.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import { badRequest, conflict, notFound, ServiceError } from '@svc/service-kit/service-error.ts';
import type { Secrets } from '../secret/secrets.ts';
import { checkBaseUrl, checkEndpoint } from './check-base-url.ts';
import type { EngineInstaller } from './engine-installer.ts';
import { authOf, baseUrlOf, type EngineEnv } from './engine-profile.ts';
import type { EngineDescription, EngineRegistry } from './engine-registry.ts';
import type { EngineSettings } from './engine-settings.ts';
import { type EngineId, engineIds, isEngineId, loadEngineFacts } from './load-engine.ts';

/** What `PATCH` may change. Null: the engine's own default. */
export type EngineChanges = {
  model?: string | null;
  connection?: EngineConnection;
  auto_update?: boolean;
  billing?: EngineConnection | null;
};

type Deps = {
  settings: EngineEnv & Pick<CoreSettings, 'defaultEngine' | 'engineModel'>;
  env: Readonly<Record<string, string | undefined>>;
  log: Pick<Log, 'warn'>;
  registry: EngineRegistry;
  engineSettings: EngineSettings;
  installer: EngineInstaller;
  secrets: Pick<Secrets, 'put' | 'remove'>;
};

/**
 * Engines for the operator: their state, and settings that apply from the next turn on. The environment takes precedence: a
 * route that would change what it sets answers 409 and changes nothing.
 */
export type EngineAdmin = {
  /** Every engine, probed now. */
  list(): Promise<EngineView[]>;
  /** One engine. @throws ServiceError 404. */
  view(id: EngineId): Promise<EngineView>;
  /** @throws ServiceError 404 for an engine that does not exist. */
  idOf(id: string): EngineId;
  /** @throws ServiceError 409 for what the environment sets, a connection without a key, and the built-in engine. */
  change(id: EngineId, changes: EngineChanges): Promise<EngineView>;
  /** @throws ServiceError 409 when it is not installed, or when the environment names another one. */
  makeDefault(id: EngineId): Promise<EngineView>;
  /** From now on, the first engine that is ready answers. @throws ServiceError 409 when the environment names one. */
  clearDefault(): Promise<void>;
  /** Stores the key and pays with it from now on. Returns where it is stored. */
  putKey(id: EngineId, value: Secret): Promise<{ stored_in: 'vault' | 'file'; engine: EngineView }>;
  /** Removes the key and returns to the login. A key in the environment stays there, but is no longer used. */
  removeKey(id: EngineId): Promise<{ note: string | null; engine: EngineView }>;
  /**
   * Points an engine that supports custom endpoints at a server; the empty string clears it. A server without the protocol is refused;
   * one that does not answer is accepted, because it may be started later. @throws ServiceError 400, 409, 422.
   */
  setBaseUrl(id: EngineId, text: string): Promise<Omit<BaseUrlSet, 'ok'>>;
  /** Probes the machine again, for example after a login. A fallback choice is made again, and turns are priced by the login that is found. */
  refresh(id: EngineId): Promise<EngineView>;
  /** Returns to the previous version; the abandoned one is not installed automatically again. @throws as `EngineInstaller.rollback`. */
  rollback(id: EngineId): Promise<EngineView>;
  /** Begins to install the engine; the view shows the progress. @throws as `EngineInstaller.install`. */
  install(id: EngineId): Promise<EngineView>;
};

export const createEngineAdmin = (deps: Deps): EngineAdmin => ({
  list: () => list(deps),
  view: (id) => view(deps, id),
  idOf,
  change: (id, changes) => change(deps, id, changes),
  makeDefault: (id) => makeDefault(deps, id),
  clearDefault: () => clearDefault(deps),
  putKey: (id, value) => putKey(deps, id, value),
  removeKey: (id) => removeKey(deps, id),
  setBaseUrl: (id, text) => setBaseUrl(deps, id, text),
  refresh: (id) => refresh(deps, id),
  async rollback(id) {
    const left = await deps.installer.rollback(id);
    await deps.engineSettings.change(id, { refused_version: left, update_fault: null });
    return view(deps, id);
  },
  async install(id) {
    await deps.installer.install(id);
    return view(deps, id);
  },
});

const list = async (deps: Deps): Promise<EngineView[]> =>
  Promise.all((await deps.registry.describe()).map((found) => toView(deps, found)));

async function view(deps: Deps, id: EngineId): Promise<EngineView> {
  const found = (await list(deps)).find((engine) => engine.id === id);
  if (found === undefined) throw notFound('engine', id);
  return found;
}

async function toView(
  { registry, engineSettings, installer }: Deps,
  { program, ...found }: EngineDescription,
): Promise<EngineView> {
  const { id } = found;
  const [profile, { models, pin }] = await Promise.all([registry.profile(id), loadEngineFacts(id)]);
  const { billing, auto_update, latest_version, checked_at, update_fault } = engineSettings.read(id);
  const { loginArgs: args, takesEndpoint } = engineTraits[id];
  return {
    ...found,
    model: found.default ? (await registry.active()).choice.model : profile.model,
    models,
    connection: profile.connection,
    key_present: profile.hasKey,
    billing,
    billed: authOf(profile, found.auth) === 'api_key',
    auto_update,
    base_url: profile.baseUrl,
    takes_base_url: takesEndpoint,
    pinned_version: pin?.version ?? null,
    previous_version: installer.previous(id),
    latest_version,
    checked_at,
    update_fault,
    install: installer.status(id),
    login: program === undefined || args === null ? null : [...program, ...args],
  };
}

function idOf(id: string): EngineId {
  if (isEngineId(id)) return id;
  throw notFound('engine', id);
}

async function change(deps: Deps, id: EngineId, changes: EngineChanges): Promise<EngineView> {
  if (id === 'offline') throw builtIn();
  if (changes.model !== undefined) await refuseModel(deps, id);
  if (changes.connection !== undefined) await refuseConnection(deps, id, changes.connection);
  await deps.engineSettings.change(id, {
    ...changes,
    // The fault of the last update no longer matters, and a refused version may be tried again.
    ...(changes.auto_update !== undefined && { update_fault: null, refused_version: null }),
  });
  return inForce(deps, id);
}

async function refuseModel({ settings, registry }: Deps, id: EngineId): Promise<void> {
  if (settings.engineModel === null || (await registry.active()).choice.id !== id) return;
  throw conflict('SVC_ENGINE_MODEL sets the model of the default engine. Remove it to choose one here.');
}

async function refuseConnection({ registry }: Deps, id: EngineId, connection: EngineConnection): Promise<void> {
  if (connection === 'subscription') return;
  refuseKey(id);
  const { hasKey } = await registry.profile(id);
  if (!hasKey) throw conflict(`There is no API key for ${id}. Set one: ./svc engine key ${id}`);
}

async function makeDefault(deps: Deps, id: EngineId): Promise<EngineView> {
  const { defaultEngine } = deps.settings;
  if (defaultEngine !== null && defaultEngine !== id)
    throw conflict(
      `SVC_DEFAULT_ENGINE is set to ${defaultEngine}, and the environment takes precedence. Remove it to choose here.`,
    );
  const { installed, reason } = await deps.registry.look(id);
  if (!installed) {
    const install = `./svc engine install ${id}`;
    throw conflict(reason.includes(install) ? reason : `${reason} Install it first: ${install}`);
  }
  await deps.engineSettings.makeDefault(id);
  return inForce(deps, id);
}

async function clearDefault({ settings, engineSettings, registry }: Deps): Promise<void> {
  if (settings.defaultEngine !== null)
    throw conflict(
      `SVC_DEFAULT_ENGINE is set to ${settings.defaultEngine}, and the environment takes precedence. Remove it there.`,
    );
  await engineSettings.makeDefault(null);
  await registry.changed(null);
}

async function putKey(deps: Deps, id: EngineId, value: Secret): Promise<{ stored_in: 'vault' | 'file'; engine: EngineView }> {
  const names = refuseKey(id);
  const stored_in = await deps.secrets.put(names.own, value);
  await deps.engineSettings.change(id, { connection: 'api_key' });
  return { stored_in, engine: await inForce(deps, id) };
}

async function removeKey(deps: Deps, id: EngineId): Promise<{ note: string | null; engine: EngineView }> {
  const names = refuseKey(id);
  await deps.engineSettings.change(id, { connection: 'subscription' });
  await deps.secrets.remove(names.own).catch(async (error: unknown) => {
    // The key is still stored, but no longer used.
    await inForce(deps, id);
    throw error;
  });
  const stays = (deps.env[names.vendor] ?? '') !== '' ? `${names.vendor} is set in the environment; it is not used.` : null;
  return { note: stays, engine: await inForce(deps, id) };
}

async function setBaseUrl(deps: Deps, id: EngineId, text: string): Promise<Omit<BaseUrlSet, 'ok'>> {
  if (!engineTraits[id].takesEndpoint)
    throw conflict(`Only ${endpointEngine} supports a custom endpoint: ${id} does not speak the Responses protocol.`);
  const url = checkBaseUrl(text);
  if (url !== null && 'problem' in url) throw badRequest(url.problem);
  if (baseUrlOf(id, deps.settings) !== null)
    throw conflict('SVC_CODEX_BASE_URL is set, and the environment takes precedence. Remove it to set one here.');
  const found = url === null ? { models: [], warnings: [] } : await checkEndpoint(url.url);
  await deps.engineSettings.change(id, { base_url: url?.url ?? null });
  return { engine: await inForce(deps, id), ...found };
}

async function refresh(deps: Deps, id: EngineId): Promise<EngineView> {
  const found = await deps.registry.look(id);
  const { choice } = await deps.registry.active();
  const isOther = choice.id === 'offline' || (await deps.registry.isChargedOtherwise(id, found));
  return isOther ? inForce(deps, id) : view(deps, id);
}

/** Applies the settings to the next turn. They stay set even if no engine can be chosen. */
async function inForce(deps: Deps, id: EngineId): Promise<EngineView> {
  const { registry, log } = deps;
  await registry.changed(id).catch((error: unknown) => log.warn({ err: error, engine: id }, 'no engine could be chosen'));
  return view(deps, id);
}

/** The secret names of an engine's key. @throws ServiceError 409 for an engine that takes none. */
function refuseKey(id: EngineId): { own: string; vendor: string } {
  if (id === 'offline') throw builtIn();
  const names = engineTraits[id].keyNames;
  if (names === null) throw new ServiceError('engine_api_key_refused', noKeyFor(id), { status: 409 });
  return names;
}

const takeKeys = engineIds.filter((id) => engineTraits[id].keyNames !== null).join(' or ');

const noKeyFor = (id: EngineId): string =>
  `${id} takes no API key on purpose: every turn would be billed by the token, without the context of this machine that your ` +
  `login brings. Log in instead (./svc engine login ${id}), or use a key with ${takeKeys}.`;

const builtIn = () => conflict('offline is built in and has no settings.');
