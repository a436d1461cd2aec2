import os from 'node:os';
import { startModelServer, type ModelServer } from '@svc/testing/model-server/start-model-server.ts';
import { loadEngine, type EngineId } from '../src/engine/load-engine.ts';
import { openTestCore, type TestCore } from './open-test-core.ts';

/** A core whose engine is a vendor's real program (`install`: where it lies), before a model server that is scripted. `close` ends both. */
export async function openEngineCore(
  id: EngineId,
  install: string,
  env: Record<string, string> = {},
): Promise<{ core: TestCore; model: ModelServer; close(): Promise<void> }> {
  const model = await startModelServer();
  const upper = id.toUpperCase();
  const core = await openTestCore({
    loadEngine,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: os.tmpdir(),
      SVC_DEFAULT_ENGINE: id,
      [`SVC_${upper}_PATH`]: install,
      [`SVC_${upper}_BASE_URL`]: model.url,
      ...env,
    },
  });
  const close = async () => {
    await core.close();
    await model.close();
  };
  return { core, model, close };
}
