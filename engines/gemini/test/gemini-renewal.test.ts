import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { collectTurn } from '@svc/engine-kit/testing/collect-turn.ts';
import { engineDeps } from '@svc/engine-kit/testing/engine-deps.ts';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import { installHostileEngine } from '@svc/testing/hostile-engine/install-hostile-engine.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { createEngine } from '../src/engine.ts';

test('an engine with new settings leaves the running turns of the one that it replaces alone', async () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const deps = engineDeps({
    stateDir: mkdtempSync(path.join(folder.path, 'state-')),
    path: installHostileEngine('gemini', folder.path),
    baseUrl: 'http://127.0.0.1:9',
  });
  const begin = () => {
    const engine = createEngine(deps);
    onTestFinished(() => engine.close());
    return engine;
  };
  const request = (prompt: string) => engineRequest({ prompt, cwd: mkdtempSync(path.join(folder.path, 'cwd-')) });
  const isRunning = Promise.withResolvers<void>();
  const leaving = new AbortController();
  const running = collectTurn(begin(), request('hostile:waits'), {
    signal: leaving.signal,
    onEvent: ({ type }) => type === 'delta' && isRunning.resolve(),
  });
  await isRunning.promise;
  expect(await collectTurn(begin(), request('hi'))).toMatchObject({ text: 'hello', last: { type: 'done' } });
  leaving.abort();
  expect((await running).last).toEqual({ type: 'aborted' });
});
