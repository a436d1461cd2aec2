import path from 'node:path';
import type { EngineChoice } from '@svc/contract/service.ts';
import type { Engine, EngineAuth, EngineProbe } from '@svc/engine-kit/engine.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { makePrivateDir, type DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { Settings } from '@svc/service-kit/config/settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { chooseEngine } from './choose-engine.ts';
import { findLocalEndpoint } from './find-local-endpoint.ts';
import { engineIds, isEngineId, loadEngine, type EngineId } from './load-engine.ts';

/** The engine that answers now. */
export type ActiveEngine = { engine: Engine; choice: EngineChoice; auth: EngineAuth };

export type EngineDescription = EngineProbe & { id: EngineId; default: boolean };

type Deps = {
  settings: Settings;
  paths: DataPaths;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Log;
};

const probeLifeMs = 60_000;

/**
 * Engines by id. Choosing happens once, in the background of the start; turns wait for it, the start does not. Only
 * the engine in use is loaded; others are loaded when somebody asks what is there.
 */
export function createEngineRegistry({ settings, paths, env, clock, log }: Deps) {
  const engines = new Map<EngineId, Promise<Engine>>();
  const probes = new Map<EngineId, { at: number; probe: Promise<EngineProbe> }>();
  let active: Promise<ActiveEngine> | null = null;

  const engineOf = (id: EngineId, baseUrl: string | null = null): Promise<Engine> => {
    let engine = engines.get(id);
    if (engine === undefined) {
      const creating = create(id, baseUrl);
      engines.set(id, creating);
      // One that could not be made is made again for the next who asks.
      creating.catch(() => engines.get(id) === creating && engines.delete(id));
      engine = creating;
    }
    return engine;
  };

  const create = async (id: EngineId, baseUrl: string | null): Promise<Engine> => {
    const stateDir = path.join(paths.root, 'engine-state', id);
    makePrivateDir(stateDir);
    const createEngine = await loadEngine(id);
    const { file, url } = placesOf(id, settings);
    return createEngine({
      stateDir,
      enginesDir: paths.engines,
      path: file,
      env,
      baseUrl: baseUrl ?? url,
      script: settings.offlineScript,
      warm: settings.warmEngines,
      log: log.child({ engine: id }),
    });
  };

  const probeOf = (id: EngineId): Promise<EngineProbe> => {
    const known = probes.get(id);
    if (known === undefined) return lookAgain(id);
    // What is known is answered at once; a look at the machine takes up to a second.
    if (clock.now() - known.at > probeLifeMs) void lookAgain(id).catch(() => undefined);
    return known.probe;
  };

  /** Looks at an engine. A look that failed is forgotten, so that the next who asks looks again. */
  const lookAgain = (id: EngineId): Promise<EngineProbe> => {
    const probe = engineOf(id).then((engine) => engine.probe());
    const before = probes.get(id);
    const entry = { at: clock.now(), probe: before?.probe ?? probe };
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

  /** An engine that is to be made anew with another endpoint. */
  const forget = async (id: EngineId): Promise<void> => {
    const engine = engines.get(id);
    engines.delete(id);
    probes.delete(id);
    await (await engine)?.close();
  };

  const choose = async (): Promise<ActiveEngine> => {
    const configured = settings.defaultEngine;
    const chosen = await chooseEngine({
      configured: configured !== null && isEngineId(configured) ? configured : null,
      probe: probeOf,
      findLocalEndpoint,
    });
    if (chosen.baseUrl !== null) await forget(chosen.id);
    const engine = await engineOf(chosen.id, chosen.baseUrl);
    const { auth } = chosen.id === 'offline' ? { auth: 'none' as const } : await probeOf(chosen.id);
    log.info({ engine: chosen.id, why: chosen.why }, 'engine chosen');
    return { engine, auth, choice: { id: chosen.id, model: chosen.model ?? settings.engineModel, why: chosen.why } };
  };

  return {
    /** The engine in use. A choice that failed is made again for the next who asks. */
    active(): Promise<ActiveEngine> {
      active ??= choose().catch((error: unknown) => {
        active = null;
        throw error;
      });
      return active;
    },

    /** Every engine and how it stands on this machine. */
    async describe(): Promise<EngineDescription[]> {
      const current = (await this.active()).choice.id;
      return Promise.all(
        engineIds.map(async (id) => ({ id, default: id === current, ...(await probeOf(id).catch(unknownState)) })),
      );
    },

    async close(): Promise<void> {
      const ends = Array.from(engines.values(), (opening) => opening.then((engine) => engine.close()));
      for (const end of await Promise.allSettled(ends)) {
        if (end.status === 'rejected') log.warn({ err: end.reason as Error }, 'an engine did not close cleanly');
      }
    },
  };
}

/** What the settings say about an engine: where its program is, and where its models are. */
function placesOf(id: EngineId, settings: Settings): { file: string | null; url: string | null } {
  switch (id) {
    case 'claude':
      return { file: settings.claudePath, url: settings.claudeBaseUrl };
    case 'codex':
      return { file: settings.codexPath, url: settings.codexBaseUrl };
    case 'gemini':
      return { file: settings.geminiPath, url: settings.geminiBaseUrl };
    case 'offline':
      return { file: null, url: null };
  }
}

export type EngineRegistry = ReturnType<typeof createEngineRegistry>;

const unknownState = (error: unknown): EngineProbe => ({
  installed: false,
  version: null,
  path: null,
  auth: 'none',
  ready: false,
  reason: `It could not be looked at: ${errorText(error)}`,
});
