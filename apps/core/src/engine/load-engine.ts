import type { CreateEngine } from '@svc/engine-kit/engine.ts';
import { engineNames } from '@svc/service-kit/config/engine-traits.ts';

/** Every engine there is, in the order of preference. */
export const engineIds = engineNames;
export type EngineId = (typeof engineIds)[number];

export const isEngineId = (id: string): id is EngineId => (engineIds as readonly string[]).includes(id);

/** The package an engine is installed from, and the version its driver is written and tested for. */
export type EnginePackage = { package: string; version: string; installArgs: readonly string[] };

/** Facts about an engine that need not load it. The built-in one has neither models nor a package. */
export type EngineFacts = {
  models: readonly string[];
  pin: EnginePackage | null;
  /** The model that titles conversations, if it is always the same. */
  titleModel: string | null;
};

/** The only place that imports an engine, on first use. */
export async function loadEngine(id: EngineId): Promise<CreateEngine> {
  switch (id) {
    case 'claude':
      return (await import('@svc/engine-claude/engine.ts')).createEngine;
    case 'codex':
      return (await import('@svc/engine-codex/engine.ts')).createEngine;
    case 'gemini':
      return (await import('@svc/engine-gemini/engine.ts')).createEngine;
    case 'offline':
      return (await import('@svc/engine-offline/engine.ts')).createEngine;
  }
}

/** Small modules of the engine's package; its driver is not loaded. */
export async function loadEngineFacts(id: EngineId): Promise<EngineFacts> {
  switch (id) {
    case 'claude':
      return factsOf(await import('@svc/engine-claude/pin.ts'));
    case 'codex':
      return factsOf(await import('@svc/engine-codex/pin.ts'));
    case 'gemini':
      return factsOf(await import('@svc/engine-gemini/pin.ts'));
    case 'offline':
      return { models: [], pin: null, titleModel: null };
  }
}

type PinModule = { models: readonly string[]; pin: EnginePackage; titleModel?: string | null };

const factsOf = ({ models, pin, titleModel = null }: PinModule): EngineFacts => ({
  models,
  pin,
  titleModel,
});
