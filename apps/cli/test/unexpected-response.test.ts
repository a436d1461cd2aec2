import { execFile } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { http } from '@svc/service-kit/builtin.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';

const folder = temporaryFolder();
const stranger = http.createServer((_request, response) => response.writeHead(404).end('<!DOCTYPE html>'));
beforeAll(async () => {
  stranger.listen(0, '127.0.0.1');
  await once(stranger, 'listening');
});
afterAll(() => {
  stranger.closeAllConnections();
  stranger.close();
  folder.remove();
});

test.each([
  ['CORE', ['chat', 'hello']],
  ['CORE', ['person']],
  ['MANAGER', ['connector']],
  ['COLLECTOR', ['usage']],
  ['COLLECTOR', ['session']],
])('where another program has the port of the %s, svc %j says so, without a stack', async (name, args) => {
  const port = String((stranger.address() as AddressInfo).port);
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, HOME: folder.path, SVC_DATA_DIR: folder.path, [`SVC_${name}_PORT`]: port };
  const err = await new Promise<string>((resolve) => {
    const command = [path.join(repositoryRoot, 'apps/cli/src/main.ts'), ...args];
    execFile(process.execPath, command, { env, timeout: 30_000 }, (_error, _out, text) => resolve(text));
  });
  expect(err).toBe(
    [
      'svc: another program answers in place of the service.',
      `     What is at http://127.0.0.1:${port} is not ours.`,
      'Run: ./svc doctor\n',
    ].join('\n'),
  );
});
