import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { birthMark } from '@svc/service-kit/process/birth-mark.ts';
import { pause } from '@svc/testing/pause.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { measureGap, watchService } from './switch-version.ts';

test('measureGap() counts a core that does not come back as away until the end', async () => {
  const heard = Promise.withResolvers<void>();
  const server = createServer((_request, response) => {
    response.end('{}');
    heard.resolve();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const gap = measureGap(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await heard.promise;
  server.closeAllConnections();
  await new Promise((resolve) => void server.close(resolve));
  await pause(300);
  // Its last answer may have been read a moment after it ended.
  expect(await gap.stop()).toBeGreaterThanOrEqual(200);
});

test('a service is stopped when it is stopping or its keeper is gone', async () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const file = path.join(folder.path, 'supervisor.json');
  const keeper = spawn('sleep', ['60']);
  onTestFinished(() => void keeper.kill());
  const pid = Number(keeper.pid);
  const state = { pid: process.pid, born: birthMark(process.pid), started_at: 1, services: [], faults: [] };
  const note = (more: object) => writeFileSync(file, JSON.stringify({ ...state, ...more }));
  const service = watchService(file);
  const found = [service.isStopped()];
  for (const more of [
    {},
    { kept_by: { pid, born: birthMark(pid) } },
    { kept_by: { pid: 1, born: null } },
    { is_stopping: true },
    { is_stopping: false },
  ]) {
    note(more);
    found.push(service.isStopped());
  }
  note({ kept_by: { pid, born: birthMark(pid) } });
  service.read();
  writeFileSync(file, '');
  keeper.kill('SIGKILL');
  await once(keeper, 'exit');
  found.push(service.isStopped());
  expect(found).toEqual([false, false, false, false, true, false, true]);
});
