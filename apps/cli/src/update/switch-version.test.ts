import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { measureGap } from './switch-version.ts';

test('a core that does not answer again is one that was away to the end', async () => {
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
  const away = performance.now();
  while (performance.now() - away < 100) await new Promise((resolve) => setImmediate(resolve));
  expect(await gap.stop()).toBeGreaterThanOrEqual(100);
});
