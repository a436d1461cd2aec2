import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { http, type IncomingMessage } from '../builtin.ts';
import { createIntake, intakeLimits, type IntakeLimits } from '../intake/intake.ts';
import { createLog } from '../log.ts';
import { noMask } from '../redaction/outbound-mask.ts';
import { createApp, type App } from './create-app.ts';

const kib = 1024;
const small: IntakeLimits = {
  freeBytes: kib,
  inMemoryBytes: 8 * kib,
  memoryBytes: 64 * kib,
  comingBytes: 32 * kib,
  diskBytes: 256 * kib,
  workBytes: 64 * kib,
  waitMs: 200,
};

/** An app that answers with the length of the body, once `until` resolves. */
async function listen(limits: Partial<IntakeLimits> = {}, until: () => Promise<unknown> = () => Promise.resolve()) {
  const folder = temporaryFolder();
  const intake = createIntake(folder.path, { ...small, ...limits });
  const app = createApp({
    service: 'test',
    version: { service: 'test', version: '1.0.0', channel: 'stable', sha: 'unknown', started_at: 0, node: '26' },
    log: createLog('test', 'silent'),
    allowedHosts: [],
    intake,
    mask: noMask,
    health: () => ({}),
    routes(routes: App) {
      routes.post<{ Body: { text: string } }>('/body', async ({ body }) => {
        await until();
        return { length: body.text.length };
      });
      for (const method of ['POST', 'DELETE'] as const)
        routes.route({ method, url: '/bare', handler: async ({ body }) => ({ body: body ?? 'none' }) });
      routes.post('/wanted', { schema: { body: { type: 'object' } } }, async () => ({}));
    },
  });
  onTestFinished(async () => {
    app.server.closeAllConnections();
    await app.close();
    folder.remove();
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const held = () => intake.memory.held + intake.disk.held;
  return { app, intake, folder: folder.path, url, port: Number(new URL(url).port), held };
}

const bodyOf = (length: number) => JSON.stringify({ text: 'x'.repeat(length) });
const post = (url: string, body: string | Buffer) =>
  fetch(`${url}/body`, { method: 'POST', body, headers: { 'content-type': 'application/json' } });

/** A request whose body is sent except for its end. */
async function openBody(port: number, sent: number, declared = sent + 1): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  const head = `POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${declared}\r\n\r\n`;
  socket.write(head + bodyOf(sent).slice(0, sent));
  return socket;
}

test.each([10, 500, 5 * kib, 7 * kib, 9 * kib, 200 * kib])('receives a body of %d characters', async (length) => {
  const { url, held, intake } = await listen();
  const answer = await post(url, bodyOf(length));
  expect([answer.status, await answer.json()]).toEqual([200, { length }]);
  await expect.poll(held).toBe(0);
  expect(existsSync(intake.dir) ? readdirSync(intake.dir) : []).toEqual([]);
});

test('accepts a JSON content type without a body', async () => {
  const { app } = await listen();
  const headers = { 'content-type': 'application/json' };
  const bare = await app.inject({ method: 'POST', url: '/bare', headers });
  expect([bare.statusCode, bare.json()]).toEqual([200, { body: 'none' }]);
  expect((await app.inject({ method: 'DELETE', url: '/bare', headers })).statusCode).toBe(200);
  const wanted = await app.inject({ method: 'POST', url: '/wanted', headers });
  expect([wanted.statusCode, wanted.json()]).toMatchObject([
    400,
    { fields: [{ field: 'body', problem: 'must be a JSON object' }] },
  ]);
});

test.each([
  ['fields', `{"text":"x"${',"a":1'.repeat(40_000)}}`],
  ['items', `{"text":"x","a":[${'0,'.repeat(200_000)}0]}`],
  ['levels', `{"text":"x","a":${'['.repeat(200)}${']'.repeat(200)}}`],
])('rejects a body of too many %s before it is parsed', async (_what, body) => {
  const { url, held } = await listen(intakeLimits);
  const answer = await post(url, body);
  expect([answer.status, await answer.json()]).toMatchObject([413, { error: 'too_large' }]);
  await expect.poll(held).toBe(0);
});

test.each([
  ['well-formed', { text: 'x'.repeat(70_000), a: ['😀'] }, 200],
  ['marked as UTF-8', `\ufeff{"text":"${'x'.repeat(70_000)}"}`, 200],
  ['a list', `[1,"${'x'.repeat(70_000)}"]`, 500],
  ['no JSON', `${' '.repeat(70_000)}${'x'.repeat(70_000)}`, 400],
  ['cut off', `{"text":"${'x'.repeat(70_000)}"`, 400],
  ['reaching for a prototype', `{"text":"${'x'.repeat(70_000)}","a":[{"__proto__":{}}]}`, 400],
  ['reaching for one by a constructor', `{"text":"${'x'.repeat(70_000)}","a":{"c\\u006fnstructor":{"prototype":{}}}}`, 400],
  ['naming a constructor', `{"text":"${'x'.repeat(70_000)}","a":{"constructor":1}}`, 200],
  ['not well-formed', `{"text":"${'x'.repeat(70_000)}","a":{"b":["\\ud800"]}}`, 400],
  ['no UTF-8', Buffer.concat([Buffer.from(`{"text":"${'x'.repeat(70_000)}`), Buffer.from([0xff]), Buffer.from('"}')]), 400],
])('answers a long body that is %s like a short one', async (_what, body, status) => {
  const { url, held } = await listen(intakeLimits);
  const long = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const short = Buffer.from(long.toString('latin1').replace('x'.repeat(70_000), 'x'), 'latin1');
  const send = async (bytes: Buffer) => {
    const answer = await post(url, bytes);
    const { request_id: _, length: __, ...said } = (await answer.json()) as Record<string, unknown>;
    return [answer.status, said];
  };
  const answered = await send(long);
  expect(answered[0]).toBe(status);
  expect(answered).toEqual(await send(short));
  await expect.poll(held).toBe(0);
});

test('reads a long body in slices, so that others are answered', async () => {
  const { url } = await listen(intakeLimits);
  const slices = vi.spyOn(Buffer.prototype, 'toString');
  onTestFinished(() => slices.mockRestore());
  const objects = Array.from({ length: 19_000 }, (_, i) => ({ [`k${i}`]: 0 }));
  const answer = await post(url, JSON.stringify({ text: 'x'.repeat(1_000_000), objects }));
  expect(answer.status).toBe(200);
  const longest = Math.max(...slices.mock.results.map(({ value }) => String(value).length));
  expect(longest).toBeLessThan(64 * kib);
});

test('counts bytes as they arrive, and temporary files have no name', async () => {
  const { port, intake, held } = await listen();
  const first = await openBody(port, 6 * kib, 7 * kib);
  const second = await openBody(port, 100 * kib, 200 * kib);
  await expect.poll(() => [intake.memory.held > 0, intake.disk.held]).toEqual([true, 100 * kib]);
  expect(readdirSync(intake.dir)).toEqual([]);
  first.destroy();
  second.destroy();
  await expect.poll(held).toBe(0);
});

test('rejects a body over the budget with 429 and Retry-After, and reports it to /health', async () => {
  const { port, url, held } = await listen();
  const open = await Promise.all([1, 2].map(() => openBody(port, 120 * kib, 200 * kib)));
  await expect.poll(held).toBe(240 * kib);
  const refused = await post(url, bodyOf(100 * kib));
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
  expect(await refused.json()).toMatchObject({ ok: false, error: 'queue_full' });
  expect(await (await fetch(`${url}/health`)).json()).toMatchObject({
    status: 'degraded',
    degraded: ['1 request was refused because too much data arrived at once'],
  });
  expect((await post(url, bodyOf(500))).status).toBe(200);
  for (const socket of open) socket.destroy();
  await expect.poll(held).toBe(0);
});

test('writes a small body to disk when the memory for incoming bodies is used up', async () => {
  const { port, url, intake } = await listen({ comingBytes: 6 * kib });
  const open = await openBody(port, 6 * kib, 7 * kib);
  await expect.poll(() => intake.memory.held > 0).toBe(true);
  expect((await post(url, bodyOf(6 * kib))).status).toBe(200);
  open.destroy();
});

test('reads spooled bodies back one after another, and holds their memory until they are answered', async () => {
  const door = Promise.withResolvers<void>();
  const { url, intake } = await listen({ memoryBytes: 50 * kib, waitMs: 5000 }, () => door.promise);
  const answers = [1, 2, 3].map(() => post(url, bodyOf(40 * kib)));
  await expect.poll(() => [intake.memory.held > 40 * kib, intake.disk.held > 80 * kib]).toEqual([true, true]);
  expect(intake.memory.held).toBeLessThan(50 * kib);
  door.resolve();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200]);
});

test('rejects a body that gets no memory in time', async () => {
  const door = Promise.withResolvers<void>();
  const { url, held, intake } = await listen({ memoryBytes: 50 * kib }, () => door.promise);
  const first = post(url, bodyOf(40 * kib));
  await expect.poll(() => intake.memory.held).toBeGreaterThan(40 * kib); // read back, no longer being written to the disk
  expect((await post(url, bodyOf(40 * kib))).status).toBe(429);
  door.resolve();
  expect((await first).status).toBe(200);
  await expect.poll(held).toBe(0);
});

test('frees everything when the file of a body cannot be created', async () => {
  const { url, held, folder } = await listen();
  writeFileSync(path.join(folder, 'run'), '');
  expect((await post(url, bodyOf(100 * kib))).status).toBe(500);
  await expect.poll(held).toBe(0);
});

test('answers 413 to a body that is too large', async () => {
  const { url, held } = await listen();
  const answer = await post(url, bodyOf(11 * kib * kib));
  expect([answer.status, await answer.json()]).toMatchObject([413, { error: 'too_large' }]);
  await expect.poll(held).toBe(0);
});

test('frees everything that a body held, however it ends', async () => {
  const { port, held } = await listen({ memoryBytes: 16 * kib, comingBytes: 8 * kib, diskBytes: 64 * kib, waitMs: 20 });
  const agent = new http.Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const sender = fc.record({
    length: fc.integer({ min: 0, max: 40 * kib }),
    part: fc.integer({ min: 64, max: 20 * kib }),
    breaksAt: fc.option(fc.integer({ min: 0, max: 40 * kib }), { nil: null }),
    isChunked: fc.boolean(),
  });
  const send = ({
    length,
    part,
    breaksAt,
    isChunked,
  }: {
    length: number;
    part: number;
    breaksAt: number | null;
    isChunked: boolean;
  }) =>
    new Promise<void>((resolve) => {
      const body = bodyOf(length);
      const lengthHeader = isChunked ? {} : { 'content-length': body.length };
      const request = http.request({
        port,
        agent,
        method: 'POST',
        path: '/body',
        headers: { 'content-type': 'application/json', ...lengthHeader },
      });
      request.on('response', (response: IncomingMessage) => response.resume().on('close', resolve)).on('error', () => resolve());
      const writeFrom = (at: number) => {
        if (breaksAt !== null && at >= breaksAt) return void request.destroy();
        if (at >= body.length) return void request.end();
        request.write(body.slice(at, at + part), () => writeFrom(at + part));
      };
      writeFrom(0);
    });
  const rule = fc.asyncProperty(fc.array(sender, { minLength: 1, maxLength: 12 }), async (senders) => {
    await Promise.all(senders.map(send));
    await expect.poll(held, { interval: 2 }).toBe(0);
  });
  await fc.assert(rule, { numRuns: 60 });
});

test('the limits of a process stay below 100 MiB', () => {
  expect(intakeLimits.memoryBytes + 300 * intakeLimits.freeBytes).toBeLessThan(100 * kib * kib);
});

test('rejects a compressed body with 415', async () => {
  const { url } = await listen();
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  const answer = await fetch(`${url}/body`, { method: 'POST', headers, body: gzipSync('{"text":"a"}') });
  expect([answer.status, await answer.json()]).toEqual([
    415,
    expect.objectContaining({ error: 'unsupported_media_type', message: expect.stringContaining('uncompressed') }),
  ]);
});
