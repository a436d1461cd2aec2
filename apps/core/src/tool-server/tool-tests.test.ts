import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { openToolClient } from '@svc/engine-kit/tool-client/tool-client.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import type { Launch } from './to-tool-server.ts';
import { createToolTests } from './tool-tests.ts';

vi.mock('@svc/engine-kit/tool-client/tool-client.ts');

const server = { name: 'kit', type: 'stdio' as const, command: 'kit', args: [], env: {}, safe: true };

beforeEach(() => void vi.resetAllMocks());

/** Tests of a server that never starts up; its secrets wait for `launch()`. */
function open() {
  const launched = Promise.withResolvers<Launch>();
  const attempted = vi.fn();
  const { path: root, remove } = temporaryFolder();
  onTestFinished(remove);
  vi.mocked(openToolClient).mockImplementation(() => {
    const states = Promise.withResolvers<[]>();
    return { states: states.promise, call: vi.fn(), close: () => Promise.resolve(states.resolve([])) };
  });
  const tests = createToolTests({
    toolServers: { launch: () => launched.promise, attempted },
    knownSecrets: { redactor: () => ({ text: (text: string) => text }) as never },
    env: {},
    workspaces: { shared: () => root } as never,
    paths: dataPaths(root),
  });
  return { tests, attempted, launch: () => launched.resolve({ server }) };
}

test.each(['its caller leaves', 'the service stops'])(
  'a test for which %s while secrets are resolved starts no program',
  async (how) => {
    const { tests, attempted, launch } = open();
    const leaving = new AbortController();
    const test = tests.run('kit', 60_000, leaving.signal);
    if (how === 'its caller leaves') leaving.abort();
    else await tests.close();
    launch();
    expect(await test).toMatchObject({ connected: false, reason: 'its test was interrupted' });
    expect(openToolClient).not.toHaveBeenCalled();
    expect(attempted).not.toHaveBeenCalled();
  },
);

test.each(['its caller leaves', 'the service stops'])('a test for which %s while the program starts is aborted', async (how) => {
  const { tests, attempted, launch } = open();
  const leaving = new AbortController();
  const test = tests.run('kit', 60_000, leaving.signal);
  launch();
  await vi.waitUntil(() => vi.mocked(openToolClient).mock.calls.length > 0);
  if (how === 'its caller leaves') leaving.abort();
  else await tests.close();
  expect(await test).toMatchObject({ connected: false });
  expect(attempted).not.toHaveBeenCalled();
});
