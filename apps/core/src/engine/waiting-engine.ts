import type { Engine, EngineEvent, EngineFailure } from '@svc/engine-kit/engine.ts';
import type { BehindVault } from '@svc/service-kit/vault/behind-vault.ts';

/** An engine whose key is not available: each turn fails with the reason, until the engine is created again with its key. */
export function waitingEngine(engine: Engine, { message }: BehindVault): Engine {
  const failure: EngineFailure = { code: 'engine_not_logged_in', message, retryable: true };
  return {
    id: engine.id,
    async probe() {
      const found = await engine.probe();
      return found.installed ? { ...found, ready: false, auth: 'none', reason: message } : found;
    },
    async *run(): AsyncGenerator<EngineEvent> {
      yield { type: 'failed', failure };
    },
    instructions: engine.instructions?.bind(engine),
    terminal: async () => ({ problem: message }),
    forget: async (sessionId) => engine.forget?.(sessionId),
    asks: engine.asks,
    usesTools: engine.usesTools?.bind(engine),
    close: () => engine.close(),
  };
}
