import type { Engine, EngineProbe } from '@svc/engine-kit/engine.ts';
import { endpointEngine } from '@svc/service-kit/config/engine-traits.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { chooseEngine } from './choose-engine.ts';
import { createEnginePool, type ActiveEngine, type EnginePoolDeps } from './engine-pool.ts';
import { authOf, type EngineProfile } from './engine-profile.ts';
import { engineIds, isEngineId, type EngineId } from './load-engine.ts';
import type { ModelServers } from './model-servers.ts';

export type EngineDescription = EngineProbe & { id: EngineId; default: boolean };

type Deps = EnginePoolDeps & {
  settings: Pick<CoreSettings, 'defaultEngine' | 'engineModel'>;
  modelServers: Pick<ModelServers, 'best'>;
};

/**
 * Engines by id. One is chosen in the background at the start and after each change of settings; turns wait for that, the
 * start does not. The choice is kept in memory. Only the engine in use is loaded; others are loaded when a caller lists them.
 */
export type EngineRegistry = {
  /** The engine in use. A choice that failed, or was made without probing every engine, is made again for the next caller. */
  active(): Promise<ActiveEngine>;
  /** Any engine with its settings, in use or not; kept in memory after the first call. */
  open(id: EngineId): Promise<ActiveEngine>;
  /** How an engine is run now. */
  profile(id: EngineId): Promise<EngineProfile>;
  /** Probes an engine on this machine now, without the cache. */
  look(id: EngineId): Promise<EngineProbe>;
  /** Whether an engine's turns are charged to another login than the one that was found. */
  isChargedOtherwise(id: EngineId, found: Pick<EngineProbe, 'auth'>): Promise<boolean>;
  /** Creates a copy of an engine from another folder, with its own state, to test it. The caller closes it. */
  makeAt(id: EngineId, folder: string, stateDir: string): Promise<Engine>;
  /** Every engine, with its probe on this machine. */
  describe(): Promise<EngineDescription[]>;
  /**
   * The settings or the program of an engine have changed: the next turn uses them. Running turns are not disturbed.
   * Resolves when the choice is made.
   */
  changed(id: EngineId | null): Promise<void>;
  /** A model server of this machine appeared or disappeared: it is used, or no longer used, unless a better engine is set or found. */
  modelServersChanged(): Promise<void>;
  /** True while turns of an engine run. */
  isBusy(id: EngineId): boolean;
  /** Resolves when no turn of an engine runs. */
  idle(id: EngineId): Promise<void>;
  /** Closes every engine that is open. */
  close(): Promise<void>;
};

export function createEngineRegistry({ modelServers, ...deps }: Deps): EngineRegistry {
  const { settings, log, engineSettings } = deps;
  const pool = createEnginePool(deps);
  let active: Promise<ActiveEngine> | null = null;
  /** Engines that were requested by id, until their settings change. */
  const opened = new Map<EngineId, Promise<ActiveEngine>>();

  const renew = (id: EngineId): void => {
    opened.delete(id);
    pool.renew(id);
  };

  /** The engine that the operator set, by the environment or a route. */
  const configured = () => {
    const { defaultEngine } = settings;
    if (defaultEngine !== null && isEngineId(defaultEngine)) return { id: defaultEngine, by: 'SVC_DEFAULT_ENGINE' };
    const id = engineSettings.defaultEngine();
    return id === null ? null : { id, by: './svc engine default' };
  };

  const useLocalServer = (url: string | null): void => {
    if (pool.localUrl() !== url) renew(endpointEngine);
    pool.setLocalUrl(url);
  };

  /** `isFinal` is false when only `offline` was found but an engine could not be probed: that one may be ready. */
  const choose = async (): Promise<{ engine: ActiveEngine; isFinal: boolean }> => {
    useLocalServer(null);
    let areAllSeen = true;
    const unseen = (id: EngineId, error: unknown): EngineProbe => {
      areAllSeen = false;
      return { ...unknownState(error), reason: `${id} could not be checked: ${errorText(error)}.` };
    };
    const chosen = await chooseEngine({
      configured: configured(),
      probe: (id) => pool.probe(id).catch((error: unknown) => unseen(id, error)),
      findLocalEndpoint: modelServers.best,
      waitsForVault: async (id) => (await pool.profile(id)).keyFault !== null,
    });
    useLocalServer(chosen.baseUrl);
    const found = await pool.open(chosen.id, chosen);
    log.info({ engine: chosen.id, why: chosen.why }, 'engine chosen');
    const { engineModel: model } = settings;
    const engine = model === null ? found : { ...found, choice: { ...found.choice, model } };
    return { engine, isFinal: areAllSeen || chosen.id !== 'offline' };
  };

  return {
    active() {
      if (active !== null) return active;
      const forget = () => {
        if (active === choosing) active = null;
      };
      const choosing = choose().then(
        ({ engine, isFinal }) => {
          if (!isFinal) forget();
          return engine;
        },
        (error: unknown) => {
          forget();
          throw error;
        },
      );
      active = choosing;
      return active;
    },

    open(id) {
      const known = opened.get(id);
      if (known !== undefined) return known;
      const opening = pool.open(id, { model: null, why: 'It was requested by name.' });
      opened.set(id, opening);
      opening.catch(() => opened.get(id) === opening && opened.delete(id));
      return opening;
    },

    async describe() {
      const current = (await this.active()).choice.id;
      return Promise.all(
        engineIds.map(async (id) => ({ id, default: id === current, ...(await pool.probe(id).catch(unknownState)) })),
      );
    },

    async changed(id) {
      if (id !== null) renew(id);
      active = null;
      await this.active();
    },

    async isChargedOtherwise(id, found) {
      const auth = authOf(await pool.profile(id), found.auth);
      const inUse = await Promise.allSettled([active, opened.get(id)]);
      return inUse.some((made) => made.status === 'fulfilled' && made.value?.choice.id === id && made.value.auth !== auth);
    },

    async modelServersChanged() {
      if (active === null || configured() !== null) return;
      const { choice } = await active;
      if (choice.id !== 'offline' && pool.localUrl() === null) return;
      const best = await modelServers.best();
      if (choice.id === 'offline' || best?.baseUrl !== pool.localUrl() || best?.model !== choice.model) await this.changed(null);
    },

    profile: pool.profile,
    look: pool.look,
    makeAt: pool.makeAt,
    isBusy: pool.isBusy,
    idle: pool.idle,
    close: pool.close,
  };
}

const unknownState = (error: unknown): EngineProbe => ({
  installed: false,
  version: null,
  path: null,
  auth: 'none',
  ready: false,
  reason: `It could not be checked: ${errorText(error)}`,
});
