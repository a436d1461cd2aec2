import { chmodSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { CreateEngine, EngineDeps } from '@svc/engine-kit/engine.ts';
import { createScriptedEngine } from '@svc/testing/scripted-engine.ts';
import type { EngineId } from '../src/engine/load-engine.ts';
import { envelope, openTestCore } from './open-test-core.ts';

test('a key whose removal fails is no longer used for turns', async () => {
  const made: EngineDeps[] = [];
  const loadEngine = (id: EngineId): Promise<CreateEngine> =>
    Promise.resolve((deps) => {
      if (id === 'codex') made.push(deps);
      return createScriptedEngine(id);
    });
  const core = await openTestCore({ env: { SVC_DEFAULT_ENGINE: 'codex' }, loadEngine });
  onTestFinished(() => core.close());
  const call = (method: 'PUT' | 'DELETE', payload?: object) =>
    core.app.inject({ method, url: '/v2/engines/codex/apikey', ...(payload && { payload }) });
  expect((await call('PUT', { value: 'sk-test-0123456789' })).statusCode).toBe(200);
  expect(made.at(-1)?.apiKey).toBeTruthy();
  chmodSync(path.join(core.folder, 'secrets.json'), 0o644);
  expect((await call('DELETE')).statusCode).toBe(422);
  await core.handle(envelope('hi'));
  expect(made.at(-1)?.apiKey).toBeNull();
});
