import { writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createCoreLink } from '@svc/connector-kit/core-link.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { openConnectorPasses } from '@svc/service-kit/connector-pass.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { filesHolding } from '@svc/testing/files-below.ts';
import { envelope } from './open-test-core.ts';
import { readEvents } from './read-events.ts';
import { dataDir, startCoreProcess as start } from './start-core-process.ts';

/** Emits one word and then never ends, ignoring its signal. */
const deafScript = `export async function* respond() {
  yield { type: 'delta', text: 'word' };
  await new Promise(() => undefined);
}`;

/** A streamed turn, read from the raw socket. */
function stream(port: number, text: string) {
  const body = JSON.stringify(envelope(text));
  const head = ['POST /v2/handle HTTP/1.1', 'Host: 127.0.0.1', 'Accept: text/event-stream', 'Content-Type: application/json'];
  const socket = net.connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let read = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (read += chunk));
  socket.on('error', () => undefined);
  socket.write(`${head.join('\r\n')}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  return { read: () => read };
}

/** A person who watches the conversation over HTTP. */
async function watch(url: string, lastId?: string) {
  const reader = await readEvents(url, lastId, '/v2/session/compat%3Ac1%3Akey/stream');
  onTestFinished(() => void reader.close());
  return { ...reader, types: () => reader.events.map(({ event }) => event) };
}

/** The same over a connector's link, which reconnects by itself. */
function watchOverLink(dir: string) {
  const { connectorKey, coreSocket } = dataPaths(dir);
  const pass = openConnectorPasses(connectorKey).issue({ type: 'compat', instanceId: 'c1' }).reveal();
  const link = createCoreLink({ socketPath: coreSocket, pass, clock: systemClock, log: () => undefined });
  onTestFinished(() => link.close());
  const seen: string[] = [];
  const as = { channel: 'compat', sender: { raw_id: 'owner' } };
  link.sessions.watch(as, 'compat:c1:key', { onFrame: ({ type }) => void seen.push(type) });
  return { types: () => seen, lastId: () => '' };
}

test('a second core on the same data folder exits and names the folder', async () => {
  const dir = dataDir();
  const first = await start(dir);
  await first.ready();
  const second = await start(dir);
  expect(await second.exited).toBe(1);
  expect(second.output()).toContain(`Another core is using ${dir}`);
  expect((await requestJson(`${first.url}/health`, { timeoutMs: 40_000 })).status).toBe(200);
});

test('stopping during a turn tells the reader why, and a stalled caller does not delay it', async () => {
  const dir = dataDir();
  const script = path.join(dir, 'script.mjs');
  writeFileSync(script, deafScript);
  const core = await start(dir, { SVC_OFFLINE_SCRIPT: script, SVC_STOP_TIMEOUT_MS: '4000' });
  await core.ready();
  const reader = stream(core.port, 'work');
  const half = net.connect(core.port, '127.0.0.1', () => {
    half.write('POST /v2/handle HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{');
  });
  half.on('error', () => undefined);
  onTestFinished(() => void half.destroy());
  // The last letter may be held back: a secret of this process could begin with it.
  await expect.poll(() => reader.read()).toContain('wor');
  const watcher = await watch(core.url);
  await expect.poll(watcher.types).toEqual(['begin', 'delta', 'watching']);
  core.child.kill('SIGTERM');
  expect(await core.exited).toBe(0);
  expect(core.output()).not.toContain('did not stop in time');
  // The turn continues at the next start, so there is no end frame yet; the stream itself ends.
  expect([watcher.types().includes('end'), await watcher.ended]).toEqual([false, 'whole']);
  expect(reader.read()).toMatch(/event: error\ndata: .*"unavailable".*The message is kept/);
});

test('[L08] a core killed during a turn resumes it in the same engine session and leaves no lock', async () => {
  const dir = dataDir();
  const first = await start(dir);
  await first.ready();
  const read = async (url: string) =>
    (await requestJson<{ engine_session_id: string; state: string }>(`${url}/v2/session/compat:c1:key`, { timeoutMs: 40_000 }))
      .body;
  const turn = requestJson(`${first.url}/v2/handle`, { body: envelope('wait 60 done'), timeoutMs: 60_000 });
  const cut = expect(turn).rejects.toThrow();
  await expect.poll(async () => (await read(first.url)).engine_session_id).toMatch(/^offline-/);
  const before = await read(first.url);
  const watchers = [await watch(first.url), watchOverLink(dir)];
  for (const { types } of watchers) await expect.poll(types).toContain('begin');
  // Changes are committed in order: once this is answered, everything before it is on the disk.
  const seen = envelope('seen', { delivery: 'async', conversation_key: 'compat:c1:other' });
  await requestJson(`${first.url}/v2/handle`, { body: seen, timeoutMs: 40_000 });
  first.child.kill('SIGKILL');
  await cut;
  const second = await start(dir);
  await second.ready();
  expect(await read(second.url)).toMatchObject({ engine_session_id: before.engine_session_id, state: 'running' });
  const back = await watch(second.url, watchers[0]!.lastId());
  const overLink = () => watchers[1]!.types().slice(watchers[1]!.types().indexOf('gap'));
  // The link reconnects in its own time.
  for (const types of [back.types, overLink])
    await expect.poll(types, { timeout: 20_000 }).toEqual(expect.arrayContaining(['gap', 'begin']));
  await requestJson(`${second.url}/v2/abort`, { body: { conversation_key: 'compat:c1:key' }, timeoutMs: 40_000 });
  await expect.poll(async () => (await read(second.url)).state).toBe('idle');
  // A watcher of the first core gets a gap, the turn from its beginning, and its end once.
  for (const types of [back.types, overLink]) {
    await expect.poll(types).toContain('end');
    expect(types().filter((type) => type !== 'queued' && type !== 'watching')).toEqual(['gap', 'begin', 'end']);
  }
  expect(watchers[0]!.types()).not.toContain('end');
  const next = await requestJson(`${second.url}/v2/handle`, { body: envelope('echo back'), timeoutMs: 40_000 });
  expect(next.body).toMatchObject({ outcome: 'replied', actions: [{ text: 'back' }] });
  expect((await read(second.url)).engine_session_id).toBe(before.engine_session_id);
});

test('[P12] a key sent with /query appears in no log and no file', async () => {
  const dir = dataDir();
  const core = await start(dir, { SVC_LOG_LEVEL: 'trace' });
  await core.ready();
  const query = (body: object) => requestJson(`${core.url}/query`, { body, timeoutMs: 40_000 });
  const asked = { message: 'echo hi', userId: 'nobody', apiKey: 'canary-key-123456' };
  expect((await query(asked)).status).toBe(403);
  expect((await query({ ...asked, userId: 'owner', platform: 'compat' })).status).toBe(200);
  expect((await query({ ...asked, message: 5 })).status).toBe(400);
  core.child.kill('SIGTERM');
  await core.exited;
  expect([filesHolding(dir, asked.apiKey), core.output().includes(asked.apiKey)]).toEqual([[], false]);
});
