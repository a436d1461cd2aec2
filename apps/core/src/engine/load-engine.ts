import type { CreateEngine } from '@svc/engine-kit/engine.ts';

/** Every engine there is, in the order of preference. */
export const engineIds = ['claude', 'codex', 'gemini', 'offline'] as const;
export type EngineId = (typeof engineIds)[number];

export const isEngineId = (id: string): id is EngineId => (engineIds as readonly string[]).includes(id);

/** The only place that imports an engine, and only when it is wanted. */
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
