import { createHmac } from 'node:crypto';
import { connect } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { freePorts } from '@svc/testing/free-ports.ts';
import { openWebhook } from './webhook.ts';

const secret = 'the secret of the hook';
const maxBytes = 25 * 1024 * 1024;

test('bounds the memory of all unverified bodies', async () => {
  const [port = 0] = await freePorts(1);
  const version = { service: 'issues', version: '0.0.0', channel: 'stable', sha: 'none', started_at: 0, node: '24' };
  const ring = vi.fn();
  const webhook = await openWebhook({ port, secret, ring, version, allowedHosts: [], log: () => undefined });
  onTestFinished(() => webhook.stop(0));
  const body = JSON.stringify({ repository: { full_name: 'ann/demo' } });
  const post = async () => {
    const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    const headers = { 'x-hub-signature-256': signature };
    return (await fetch(`http://127.0.0.1:${port}/webhook`, { method: 'POST', headers, body })).status;
  };

  // Two bodies that never end, one byte short of the limit.
  const senders = [0, 1].map(() => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.write(`POST /webhook HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${maxBytes}\r\n\r\n`);
    socket.write(Buffer.alloc(maxBytes - 1));
    return socket;
  });
  await expect.poll(post).toBe(503);
  for (const socket of senders) socket.destroy();
  await expect.poll(post).toBe(202);
  expect(ring).toHaveBeenCalledWith('ann/demo');
});
