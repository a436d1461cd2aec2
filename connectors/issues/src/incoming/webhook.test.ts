import { createHmac } from 'node:crypto';
import { connect } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { freePorts } from '@svc/testing/free-ports.ts';
import { openWebhook } from './webhook.ts';

const secret = 'the secret of the hook';
const maxBytes = 25 * 1024 * 1024;

const event = JSON.stringify({ repository: { full_name: 'ann/demo' } });

async function opened() {
  const [port = 0] = await freePorts(1);
  const version = { service: 'issues', version: '0.0.0', channel: 'stable', sha: 'none', started_at: 0, node: '24' };
  const ring = vi.fn();
  const webhook = await openWebhook({ port, secret, ring, version, allowedHosts: [], log: () => undefined });
  onTestFinished(() => webhook.stop(0));
  const post = async (body = event, type = 'application/json') => {
    const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    const headers = { 'x-hub-signature-256': signature, 'content-type': type };
    return (await fetch(`http://127.0.0.1:${port}/webhook`, { method: 'POST', headers, body })).status;
  };
  return { port, ring, post };
}

test('understands a notification as JSON and as a form, which is what GitHub sends by default', async () => {
  const { ring, post } = await opened();
  expect(await post()).toBe(202);
  expect(await post(new URLSearchParams({ payload: event }).toString(), 'application/x-www-form-urlencoded')).toBe(202);
  expect(ring.mock.calls).toEqual([['ann/demo'], ['ann/demo']]);
});

test('bounds the memory of all unverified bodies', async () => {
  const { port, ring, post } = await opened();

  // Two bodies that never end, one byte short of the limit.
  const senders = [0, 1].map(() => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.write(`POST /webhook HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${maxBytes}\r\n\r\n`);
    socket.write(Buffer.alloc(maxBytes - 1));
    return socket;
  });
  await expect.poll(() => post()).toBe(503);
  for (const socket of senders) socket.destroy();
  await expect.poll(() => post()).toBe(202);
  expect(ring).toHaveBeenCalledWith('ann/demo');
});
