import path from 'node:path';
import type { EngineChoice } from '@svc/contract/service.ts';
import type { CreateEngine, Engine, EngineAuth, EngineProbe } from '@svc/engine-kit/engine.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { makePrivateDir, type DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { Secrets } from '../secret/secrets.ts';
import { chooseEngine, type Chosen } from './choose-engine.ts';
import { authOf, pathOf, readProfile, type EngineProfile } from './engine-profile.ts';
import type { EngineSettings } from './engine-settings.ts';
import { createEngineSlot, type EngineSlot } from './engine-slot.ts';
import { engineIds, isEngineId, loadEngine, type EngineId } from './load-engine.ts';
import type { ModelServers } from './model-servers.ts';

/** The engine that answers now. */
export type ActiveEngine = { engine: Engine; choice: EngineChoice; auth: EngineAuth };

export type EngineDescription = EngineProbe & { id: EngineId; default: boolean };

type Deps = {
  settings: CoreSettings;
  paths: DataPaths;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Log;
  engineSettings: EngineSettings;
  secrets: Pick<Secrets, 'get'>;
  modelServers: Pick<ModelServers, 'best'>;
  /** Other engines in place of the real ones, for tests. */
  load?: (id: EngineId) => Promise<CreateEngine>;
};

const probeLifeMs = 60_000;

/**
 * Engines by id. Choosing happens in the background of the start and after a change of settings; turns wait for it, the
 * start does not, and what was chosen is answered from memory. Only the engine in use is loaded; others are loaded when
 * a caller asks what is there.
 */
export type EngineRegistry = {
  /** The engine in use. A choice that failed is made again for the next who asks. */
  active(): Promise<ActiveEngine>;
  /** Any engine as it is set, in use or not; answered from memory once it was asked for. */
  open(id: EngineId): Promise<ActiveEngine>;
  /** How an engine is run now. */
  profile(id: EngineId): Promise<EngineProfile>;
  /** Probes an engine on this machine now, whatever is remembered. */
  look(id: EngineId): Promise<EngineProbe>;
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

export function createEngineRegistry({
  settings,
  paths,
  env,
  clock,
  log,
  engineSettings,
  secrets,
  modelServers,
  load = loadEngine,
}: Deps): EngineRegistry {
  const slots = new Map<EngineId, EngineSlot>();
  const probes = new Map<EngineId, { at: number; probe: Promise<EngineProbe> }>();
  /** Model server on this machine that codex speaks to when nothing else is set. */
  let localUrl: string | null = null;
  let active: Promise<ActiveEngine> | null = null;
  /** Engines that were asked for by name, as they are until they are set otherwise. */
  const opened = new Map<EngineId, Promise<ActiveEngine>>();

  const profileOf = async (id: EngineId): Promise<EngineProfile> => {
    const profile = await readProfile({ settings, engineSettings, secrets, env }, id);
    return id === 'codex' ? { ...profile, baseUrl: profile.baseUrl ?? localUrl } : profile;
  };

  const make = async (id: EngineId, place: { path: string | null; stateDir: string }): Promise<Engine> => {
    makePrivateDir(place.stateDir);
    const createEngine = await load(id);
    const profile = await profileOf(id);
    return createEngine({
      ...place,
      enginesDir: paths.engines,
      env: profile.env,
      baseUrl: profile.baseUrl,
      apiKey: profile.apiKey,
      script: settings.offlineScript,
      warm: settings.warmEngines,
      warmMemory: settings.warmEngineMemory,
      maxLine: settings.maxEngineLine,
      log: log.child({ engine: id }),
    });
  };

  const slotOf = (id: EngineId): EngineSlot => {
    let slot = slots.get(id);
    if (slot === undefined) {
      const stateDir = path.join(paths.root, 'engine-state', id);
      slot = createEngineSlot({
        id,
        make: () => make(id, { path: pathOf(id, settings), stateDir }),
        clock,
        onCloseFailed: (error) => log.warn({ err: error, engine: id }, 'an engine did not close cleanly'),
      });
      slots.set(id, slot);
    }
    return slot;
  };

  const probeOf = (id: EngineId): Promise<EngineProbe> => {
    const known = probes.get(id);
    if (known === undefined) return lookAgain(id);
    // What is known is answered at once; a look at the machine takes up to a second.
    if (clock.elapsed() - known.at > probeLifeMs) void lookAgain(id).catch(() => undefined);
    return known.probe;
  };

  /** Looks at an engine. A look that failed is forgotten, so that the next who asks looks again. */
  const lookAgain = (id: EngineId): Promise<EngineProbe> => {
    const probe = slotOf(id).engine.probe();
    const before = probes.get(id);
    const entry = { at: clock.elapsed(), probe: before?.probe ?? probe };
    probes.set(id, entry);
    return probe.then(
      (found) => {
        entry.probe = Promise.resolve(found);
        return found;
      },
      (error: unknown) => {
        if (probes.get(id) === entry) probes.delete(id);
        throw error;
      },
    );
  };

  const renew = (id: EngineId): void => {
    probes.delete(id);
    opened.delete(id);
    slots.get(id)?.renew();
  };

  const open = async (id: EngineId, chosen: Pick<Chosen, 'model' | 'why'>): Promise<ActiveEngine> => {
    const slot = slotOf(id);
    await slot.ready();
    const profile = await profileOf(id);
    const { auth } = id === 'offline' ? { auth: 'none' as const } : await probeOf(id);
    const model = profile.model ?? chosen.model;
    return { engine: slot.engine, auth: authOf(profile, auth), choice: { id, model, why: chosen.why } };
  };

  /** The engine that the operator named, by the environment or with a route. */
  const configured = () => {
    const { defaultEngine } = settings;
    if (defaultEngine !== null && isEngineId(defaultEngine)) return { id: defaultEngine, by: 'SVC_DEFAULT_ENGINE' };
    const id = engineSettings.defaultEngine();
    return id === null ? null : { id, by: './svc engine default' };
  };

  const pointCodexAt = (url: string | null): void => {
    if (localUrl !== url) renew('codex');
    localUrl = url;
  };

  const choose = async (): Promise<ActiveEngine> => {
    pointCodexAt(null);
    const chosen = await chooseEngine({ configured: configured(), probe: probeOf, findLocalEndpoint: modelServers.best });
    pointCodexAt(chosen.baseUrl);
    const opened = await open(chosen.id, chosen);
    log.info({ engine: chosen.id, why: chosen.why }, 'engine chosen');
    return settings.engineModel === null ? opened : { ...opened, choice: { ...opened.choice, model: settings.engineModel } };
  };

  return {
    active(): Promise<ActiveEngine> {
      if (active !== null) return active;
      const choosing = choose().catch((error: unknown) => {
        if (active === choosing) active = null;
        throw error;
      });
      active = choosing;
      return active;
    },

    open(id: EngineId): Promise<ActiveEngine> {
      const known = opened.get(id);
      if (known !== undefined) return known;
      const opening = open(id, { model: null, why: 'It was asked for.' });
      opened.set(id, opening);
      opening.catch(() => opened.get(id) === opening && opened.delete(id));
      return opening;
    },

    profile: profileOf,

    look(id: EngineId): Promise<EngineProbe> {
      probes.delete(id);
      return lookAgain(id);
    },

    makeAt: (id: EngineId, folder: string, stateDir: string): Promise<Engine> => make(id, { path: folder, stateDir }),

    async describe(): Promise<EngineDescription[]> {
      const current = (await this.active()).choice.id;
      return Promise.all(
        engineIds.map(async (id) => ({ id, default: id === current, ...(await probeOf(id).catch(unknownState)) })),
      );
    },

    async changed(id: EngineId | null): Promise<void> {
      if (id !== null) renew(id);
      active = null;
      await this.active();
    },

    async modelServersChanged(): Promise<void> {
      if (active === null || configured() !== null) return;
      const { choice } = await active;
      if (choice.id !== 'offline' && localUrl === null) return;
      const best = await modelServers.best();
      if (choice.id === 'offline' || best?.baseUrl !== localUrl || best?.model !== choice.model) await this.changed(null);
    },

    isBusy: (id: EngineId): boolean => (slots.get(id)?.runs() ?? 0) > 0,

    idle: (id: EngineId): Promise<void> => slotOf(id).idle(),

    async close(): Promise<void> {
      await Promise.all(Array.from(slots.values(), (slot) => slot.engine.close()));
    },
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
