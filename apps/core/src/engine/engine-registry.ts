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
 * Engines by id. Choosing happens in the background of the start and after a change of settings; turns wait for it, the
 * start does not, and what was chosen is answered from memory. Only the engine in use is loaded; others are loaded when
 * a caller asks what is there.
 */
export type EngineRegistry = {
  /** The engine in use. A choice that failed, or could not look at all, is made again for the next who asks. */
  active(): Promise<ActiveEngine>;
  /** Any engine as it is set, in use or not; answered from memory once it was asked for. */
  open(id: EngineId): Promise<ActiveEngine>;
  /** How an engine is run now. */
  profile(id: EngineId): Promise<EngineProfile>;
  /** Probes an engine on this machine now, whatever is remembered. */
  look(id: EngineId): Promise<EngineProbe>;
  /** Whether turns of an engine are charged by another login than the one that was found. */
  isChargedOtherwise(id: EngineId, found: Pick<EngineProbe, 'auth'>): Promise<boolean>;
  /** An engine that is made as this one, but of another folder and with a state of its own: to test it. The caller closes it. */
  makeAt(id: EngineId, folder: string, stateDir: string): Promise<Engine>;
  /** Every engine, with what was found of it on this machine. */
  describe(): Promise<EngineDescription[]>;
  /**
   * An engine was set otherwise or is another one now: the next turn gets it as it is. Turns that run are not
   * disturbed. Resolves when the choice is made.
   */
  changed(id: EngineId | null): Promise<void>;
  /** A model server of this machine came or went: where nothing better is set or found, it is used or no longer used. */
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
  /** Engines that were asked for by name, as they are until they are set otherwise. */
  const opened = new Map<EngineId, Promise<ActiveEngine>>();

  const renew = (id: EngineId): void => {
    opened.delete(id);
    pool.renew(id);
  };

  /** The engine that the operator named, by the environment or with a route. */
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

  /** `isFinal`: not where an engine could not be looked at and none that is a model was found: it may be the one. */
  const choose = async (): Promise<{ engine: ActiveEngine; isFinal: boolean }> => {
    useLocalServer(null);
    let areAllSeen = true;
    const unseen = (id: EngineId, error: unknown): EngineProbe => {
      areAllSeen = false;
      return { ...unknownState(error), reason: `${id} could not be looked at: ${errorText(error)}.` };
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
      const opening = pool.open(id, { model: null, why: 'It was asked for.' });
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
  reason: `It could not be looked at: ${errorText(error)}`,
});
