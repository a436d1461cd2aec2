import { once } from 'node:events';
import { createServer } from 'node:http';
import { networkInterfaces } from 'node:os';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freePorts } from '@svc/testing/free-ports.ts';
import { answerLocalhost } from './answer-localhost.ts';

const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'));

async function listening(port: number, host: string) {
  const server = createServer((_request, response) => response.end('ours')).listen(port, host);
  onTestFinished(() => server.close().closeAllConnections());
  await once(server, 'listening');
  return server;
}

describe.runIf(hasIpv6)('answerLocalhost()', () => {
  test('serves both loopback addresses until it ends', async () => {
    const [port = 0] = await freePorts(1);
    const end = await answerLocalhost(await listening(port, '127.0.0.1'), port);
    for (const host of ['127.0.0.1', '[::1]']) expect(await (await fetch(`http://${host}:${port}`)).text()).toBe('ours');
    end();
    await expect(fetch(`http://[::1]:${port}`, { headers: { connection: 'close' } })).rejects.toThrow();
  });

  test('rejects when another program uses the second address', async () => {
    const [port = 0] = await freePorts(1);
    await listening(port, '::1');
    await expect(answerLocalhost(await listening(port, '127.0.0.1'), port)).rejects.toThrow('EADDRINUSE');
  });
});
