import path from 'node:path';
import type { EngineChoice } from '@svc/contract/service.ts';
import type { CreateEngine, Engine, EngineAuth, EngineProbe } from '@svc/engine-kit/engine.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import { engineTraits } from '@svc/service-kit/config/engine-traits.ts';
import { makePrivateDir } from '@svc/service-kit/files.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { Secrets } from '../secret/secrets.ts';
import type { Chosen } from './choose-engine.ts';
import { type EngineEnv, authOf, pathOf, readProfile, type EngineProfile } from './engine-profile.ts';
import type { EngineSettings } from './engine-settings.ts';
import { createEngineSlot, type EngineSlot } from './engine-slot.ts';
import { loadEngine, type EngineId } from './load-engine.ts';
import { waitingEngine } from './waiting-engine.ts';

/** An engine that is ready to use, and why it was chosen. */
export type ActiveEngine = { engine: Engine; choice: EngineChoice; auth: EngineAuth };

export type EnginePoolDeps = {
  settings: EngineEnv & Pick<CoreSettings, 'offlineScript' | 'warmEngines' | 'warmEngineMemory' | 'maxEngineLine'>;
  paths: DataPaths;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Log;
  engineSettings: EngineSettings;
  secrets: Pick<Secrets, 'ask'>;
  /** Replaces the real engines in tests. */
  load?: (id: EngineId) => Promise<CreateEngine>;
};

/** Creates engines with their settings on first use, and again when the settings have changed. */
export type EnginePool = {
  /** Resolves when the engine is created. `chosen`: why it is used, and the model unless another one is set. */
  open(id: EngineId, chosen: Pick<Chosen, 'model' | 'why'>): Promise<ActiveEngine>;
  /** How an engine is run now. */
  profile(id: EngineId): Promise<EngineProfile>;
  /** The last probe of an engine on this machine. When it is old, a new one is made in the background. */
  probe(id: EngineId): Promise<EngineProbe>;
  /** Probes it now, without the cache. */
  look(id: EngineId): Promise<EngineProbe>;
  /** Creates an engine from another folder, with its own state, to test it. The caller closes it. */
  makeAt(id: EngineId, folder: string, stateDir: string): Promise<Engine>;
  /** Its settings or its program have changed: the next turn gets a new one. */
  renew(id: EngineId): void;
  /** The model server on this machine that an engine with custom endpoints uses when no other is set. */
  localUrl(): string | null;
  setLocalUrl(url: string | null): void;
  isBusy(id: EngineId): boolean;
  idle(id: EngineId): Promise<void>;
  close(): Promise<void>;
};

export function createEnginePool(deps: EnginePoolDeps): EnginePool {
  const { settings, paths, clock, log } = deps;
  const slots = new Map<EngineId, EngineSlot>();
  const probes = createProbes((id) => slotOf(id).engine.probe(), clock);
  let localUrl: string | null = null;

  const profileOf = async (id: EngineId): Promise<EngineProfile> => {
    const profile = await readProfile(deps, id);
    return engineTraits[id].takesEndpoint ? { ...profile, baseUrl: profile.baseUrl ?? localUrl } : profile;
  };

  const make = async (id: EngineId, place: Place): Promise<Engine> => makeEngine(deps, id, place, () => profileOf(id));

  const slotOf = (id: EngineId): EngineSlot => {
    let slot = slots.get(id);
    if (slot === undefined) {
      const stateDir = path.join(paths.engineState, id);
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

  return {
    async open(id, chosen) {
      const slot = slotOf(id);
      await slot.ready();
      const profile = await profileOf(id);
      const { auth } = id === 'offline' ? { auth: 'none' as const } : await probes.of(id);
      const model = profile.model ?? chosen.model;
      return { engine: slot.engine, auth: authOf(profile, auth), choice: { id, model, why: chosen.why } };
    },
    profile: profileOf,
    probe: probes.of,
    look(id) {
      probes.forget(id);
      return probes.look(id);
    },
    makeAt: (id, folder, stateDir) => make(id, { path: folder, stateDir }),
    renew(id) {
      probes.forget(id);
      slots.get(id)?.renew();
    },
    localUrl: () => localUrl,
    setLocalUrl: (url) => void (localUrl = url),
    isBusy: (id) => (slots.get(id)?.runs() ?? 0) > 0,
    idle: (id) => slotOf(id).idle(),
    async close() {
      await Promise.all(Array.from(slots.values(), (slot) => slot.engine.close()));
    },
  };
}

/** `path`: of its program, null for the one that is found. */
type Place = { path: string | null; stateDir: string };

async function makeEngine(
  { settings, paths, log, load = loadEngine }: EnginePoolDeps,
  id: EngineId,
  place: Place,
  profileNow: () => Promise<EngineProfile>,
): Promise<Engine> {
  makePrivateDir(place.stateDir);
  const createEngine = await load(id);
  const profile = await profileNow();
  const engine = createEngine({
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
  return profile.keyFault === null ? engine : waitingEngine(engine, profile.keyFault);
}

const probeLifeMs = 60_000;

/** The probes of engines. A probe takes up to a second, so the last known one is returned at once. */
function createProbes(probeNow: (id: EngineId) => Promise<EngineProbe>, clock: Pick<Clock, 'elapsed'>) {
  const probes = new Map<EngineId, { at: number; probe: Promise<EngineProbe> }>();

  /** A failed probe is forgotten, so that the next caller probes again. */
  const look = (id: EngineId): Promise<EngineProbe> => {
    const probe = probeNow(id);
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

  return {
    look,
    of(id: EngineId): Promise<EngineProbe> {
      const known = probes.get(id);
      if (known === undefined) return look(id);
      if (clock.elapsed() - known.at > probeLifeMs) void look(id).catch(() => undefined);
      return known.probe;
    },
    forget: (id: EngineId): void => void probes.delete(id),
  };
}
