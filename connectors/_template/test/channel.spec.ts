import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import type { RunningConnector, StartContext } from '@svc/connector-kit';
import { defaultsOf, fakeContext, type FakeContext } from '@svc/connector-kit/testing';
import { meta, start } from '../src/index.ts';
import type { Config } from '../src/meta.ts';

const token = 'the-token-of-this-test';

/** The real connector on a free port, with a core that does what the test says. */
async function running(t: TestContext, config: Partial<Config> = {}): Promise<FakeContext & { live: RunningConnector }> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'connector-'));
  const whole = { ...defaultsOf(meta), token_secret_key: 'TOKEN', ...config };
  const fake = fakeContext({ type: meta.type, dataDir, config: whole }, { TOKEN: token });
  const live = await start(fake.context as StartContext<Config>);
  t.after(async () => {
    await live.stop();
    rmSync(dataDir, { recursive: true });
  });
  return { ...fake, live };
}

const post = (
  live: RunningConnector,
  route: string,
  body: string | Uint8Array<ArrayBuffer>,
  type = 'application/json',
  key = token,
) => fetch(`${live.url}${route}`, { method: 'POST', headers: { authorization: `Bearer ${key}`, 'content-type': type }, body });

test('a message gets the reply of the assistant', async (t) => {
  const { live, core } = await running(t);
  const answer = await post(live, '/message', JSON.stringify({ id: 'm1', user: 'ann', text: 'hello' }));
  assert.deepEqual([answer.status, await answer.json()], [200, { outcome: 'replied', replies: ['echo: hello'] }]);
  assert.equal(core.turns[0]?.envelope.message_id, 'm1');
});

test('nothing is said where the assistant says nothing', async (t) => {
  const { live, core } = await running(t);
  core.script = ({ result }) => result({ outcome: 'silent' });
  const answer = await post(live, '/message', JSON.stringify({ user: 'ann', text: 'hello' }));
  assert.deepEqual(await answer.json(), { outcome: 'silent', replies: [] });
});

test('a file is saved and goes with the message', async (t) => {
  const { live, core, saved } = await running(t);
  const answer = await post(live, '/file?user=ann&name=cat.png&text=who%20is%20this', new Uint8Array(5), 'image/png');
  assert.equal(answer.status, 200);
  assert.deepEqual([saved[0]?.name, saved[0]?.mime, saved[0]?.content.length], ['cat.png', 'image/png', 5]);
  const { text, attachments } = core.turns[0]?.envelope.content ?? {};
  assert.deepEqual([text, attachments?.[0]?.path], ['who is this', saved[0]?.path]);
});

test('a caller without the token is refused', async (t) => {
  const { live, core } = await running(t);
  for (const route of ['/message', '/file?user=ann']) {
    assert.equal((await post(live, route, '{"user":"ann","text":"hi"}', 'application/json', 'wrong')).status, 401);
  }
  assert.equal(core.turns.length, 0);
});

test('a message for a user is posted to the callback address', async (t) => {
  const callback = await listening(t, 200);
  const { live } = await running(t, { callback_url: callback.url });
  await live.send?.({ id: 'o1', target: 'ann', kind: 'text', text: 'the train is late' }, AbortSignal.timeout(5000));
  assert.deepEqual(callback.bodies, [{ id: 'o1', user: 'ann', text: 'the train is late' }]);
});

for (const [status, fault] of [
  [404, { code: 'unprocessable' }],
  [429, { code: 'busy', details: { retry_after_s: 7 } }],
  [500, /failed \(500\)/],
] as const) {
  test(`a callback address that answers ${status}`, async (t) => {
    const callback = await listening(t, status);
    const { live } = await running(t, { callback_url: callback.url });
    const sending = live.send?.({ id: 'o1', target: 'ann', kind: 'text', text: 'hi' }, AbortSignal.timeout(5000));
    await assert.rejects(sending ?? Promise.resolve(), fault);
  });
}

test('a callback address where nothing answers is named', async (t) => {
  const { live } = await running(t, { callback_url: 'http://127.0.0.1:1/' });
  const sending = live.send?.({ id: 'o1', target: 'ann', kind: 'text', text: 'hi' }, AbortSignal.timeout(5000));
  await assert.rejects(sending ?? Promise.resolve(), /Nothing answers at callback_url, http:\/\/127\.0\.0\.1:1\/ \(/);
});

async function listening(t: TestContext, status: number): Promise<{ url: string; bodies: unknown[] }> {
  const bodies: unknown[] = [];
  const server = createServer((req, res) => {
    let body = '';
    req.on('data', (part) => (body += String(part)));
    req.on('end', () => {
      bodies.push(JSON.parse(body));
      res.writeHead(status, { 'retry-after': '7' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, bodies };
}
