import { tmpdir } from 'node:os';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createCodexHost } from './codex-host.ts';
import { startResponsesShim } from './responses-shim.ts';

vi.mock('./responses-shim.ts');

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined };

test('a turn that found no room for the way to its endpoint leaves it to the next one to open it', async () => {
  vi.mocked(startResponsesShim)
    .mockRejectedValueOnce(new Error('EMFILE'))
    .mockResolvedValue({ url: 'http://127.0.0.1:1/v1', token: 't', close: () => Promise.resolve() });
  const host = createCodexHost(
    { program: '/nowhere/codex', packageDir: '/nowhere' },
    {
      baseUrl: 'http://127.0.0.1:1',
      env: {},
      warm: 0,
      maxLine: 1000,
      warmMemory: 1e9,
      log: quiet,
      programEnv: {},
      cwd: tmpdir(),
    },
  );
  onTestFinished(() => host.close());
  await expect(host.acquire()).rejects.toThrow('EMFILE');
  await expect(host.acquire()).rejects.toThrow('/nowhere/codex');
});
