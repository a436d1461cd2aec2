import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { http } from '@svc/service-kit/builtin.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';

/** A core that accepts the start of an upload, but does not answer its chunks. */
async function startSlowCore() {
  const state = { upload_id: 'up_1', chunk_size: 4, chunks: 2, received: [], size: 8 };
  const server = http.createServer((request, response) => {
    request.resume();
    if (request.method === 'PUT') return;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(state));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

test('an upload that is stopped with Ctrl-C says that the same command continues it', async () => {
  const folder = temporaryFolder();
  const { server, port } = await startSlowCore();
  const file = path.join(folder.path, 'film.mp4');
  writeFileSync(file, '8 bytes!');
  const env = {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    HOME: folder.path,
    SVC_DATA_DIR: path.join(folder.path, 'data'),
    SVC_CORE_PORT: String(port),
  };
  const child = spawn(process.execPath, [path.join(repositoryRoot, 'apps/cli/src/main.ts'), 'upload', file], { env });
  try {
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (said === '') child.kill('SIGINT');
      said += text;
    });
    expect((await once(child, 'close'))[0]).toBe(130);
    expect(said).toBe('0 %  0 B of 8 B\nStopped. What has arrived is kept: run the same command to continue.\n');
  } finally {
    child.kill('SIGKILL');
    server.closeAllConnections();
    server.close();
    folder.remove();
  }
});
