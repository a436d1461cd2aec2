import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '@svc/service-kit/clock.ts';
import { createFileTickets } from '../src/open-file.ts';
import { createUploads } from '../src/uploads.ts';

type Answer = (req: IncomingMessage, res: ServerResponse) => void;

const file = { path: '/u/1', name: 'a.txt', mime: 'text/plain', kind: 'text', bytes: 3, sha256: '0'.repeat(64) };
const mib = 1024 * 1024;

describe('upload of a file from a channel', () => {
  let server: Server | null = null;
  const shutdown = new AbortController();
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  async function setUp(answer: Answer, more: object = {}) {
    const own = createServer(answer);
    server = own;
    await new Promise<void>((resolve) => own.listen(0, '127.0.0.1', resolve));
    const coreUrl = `http://127.0.0.1:${(own.address() as AddressInfo).port}`;
    return createUploads({
      tickets: createFileTickets(),
      coreUrl,
      pass: 'a-pass',
      clock: systemClock,
      signal: shutdown.signal,
      ...more,
    });
  }
  const ok: Answer = (req, res) => req.resume().on('end', () => res.end(JSON.stringify({ ok: true, file })));

  test('sends the content with its metadata, and returns the file', async () => {
    let seen = '';
    let body = '';
    const uploads = await setUp((req, res) => {
      seen = `${req.method} ${req.url}`;
      req.setEncoding('utf8').on('data', (text: string) => (body += text));
      ok(req, res);
    });
    const saved = await uploads.save({ name: 'ä b.txt', mime: 'text/plain', data: Buffer.from('abc'), conversation_key: 'x:y' });
    expect(saved).toEqual(file);
    expect(seen).toBe('POST /v2/upload?filename=%C3%A4+b.txt&mime=text%2Fplain&conversation_key=x%3Ay');
    expect(body).toBe('abc');
  });

  test.each([
    Buffer.alloc(0),
    (async function* () {})(),
    (async function* () {
      yield new Uint8Array(0);
    })(),
  ])('sends an empty file (%#)', async (data) => {
    let body = 'nothing came';
    const uploads = await setUp((req, res) => {
      body = '';
      req.setEncoding('utf8').on('data', (text: string) => (body += text));
      ok(req, res);
    });
    expect(await uploads.save({ name: 'empty.txt', data })).toEqual(file);
    expect(body).toBe('');
  });

  test('applies backpressure while the core does not read', async () => {
    let [given, taken] = [0, 0];
    let go = () => undefined as void;
    const uploads = await setUp((req, res) => {
      const finish = () => res.end(JSON.stringify({ ok: true, file }));
      go = () => void req.on('data', (part: Buffer) => (taken += part.length)).on('end', finish);
    });
    const parts = async function* () {
      for (; given < 64 * mib; given += mib) yield new Uint8Array(mib);
    };
    const saving = uploads.save({ name: 'big', data: parts() });
    await expect
      .poll(
        isSteady(() => given),
        { interval: 50 },
      )
      .toBe(true);
    expect(given).toBeLessThan(32 * mib);
    go();
    expect(await saving).toEqual(file);
    expect(taken).toBe(64 * mib);
  });

  test('rejects a file over the limit while it arrives, and releases its source', async () => {
    let isReleased = false;
    let isCut = false;
    let given = 0;
    const uploads = await setUp((req) => void req.resume().on('close', () => (isCut = !req.complete)));
    const parts = async function* () {
      try {
        for (;;) yield ((given++, new Uint8Array(mib)));
      } finally {
        isReleased = true;
      }
    };
    const saving = uploads.save({ name: 'endless', data: parts(), maxBytes: 3 * mib });
    await expect(saving).rejects.toMatchObject({ code: 'too_large', message: expect.stringContaining('3 MiB') });
    expect([isReleased, given]).toEqual([true, 4]);
    await expect.poll(() => isCut).toBe(true);
  });

  test('rejects with the reason of the core', async () => {
    const uploads = await setUp((req, res) => {
      req.resume();
      res.statusCode = 507;
      res.end(JSON.stringify({ ok: false, error: 'insufficient_storage', message: 'The disk is full.' }));
    });
    await expect(uploads.save({ name: 'a', data: Buffer.alloc(9) })).rejects.toMatchObject({
      code: 'insufficient_storage',
      message: 'The disk is full.',
      status: 507,
    });
  });

  test.each<[string, Answer]>([
    ['is no JSON', (req, res) => void req.resume().on('end', () => res.end('<html>'))],
    ['names no file', (req, res) => void req.resume().on('end', () => res.end('{}'))],
    ['never ends', (req, res) => void req.resume().on('end', () => sendForever(res))],
  ])('fails when the answer %s', async (_, answer) => {
    const uploads = await setUp(answer);
    await expect(uploads.save({ name: 'a', data: Buffer.from('abc') })).rejects.toMatchObject({ code: 'upstream' });
  });

  test.each<[string, Answer]>([
    ['the answer', (req) => void req.resume().on('end', () => req.socket.destroy())],
    ['half an answer', (req, res) => void req.resume().on('end', () => (res.write('{'), setImmediate(() => res.destroy())))],
  ])('fails as unavailable when the core breaks off %s', async (_, answer) => {
    const uploads = await setUp(answer);
    await expect(uploads.save({ name: 'a', data: Buffer.from('abc') })).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('receives a rejection that arrives while it sends', async () => {
    const answered = new Int32Array(new SharedArrayBuffer(4));
    const core = new Worker(refusingCore, { eval: true, workerData: answered });
    const [port] = (await once(core, 'message')) as [number];
    const coreUrl = `http://127.0.0.1:${port}`;
    const options = { coreUrl, pass: 'a-pass', clock: systemClock, signal: shutdown.signal };
    const { chunked } = createUploads({ tickets: createFileTickets(), ...options });
    const parts = async function* () {
      yield Buffer.alloc(mib);
      // Blocks this process, so that it cannot read meanwhile.
      Atomics.wait(answered, 0, 0, 20_000);
      yield Buffer.alloc(mib);
    };
    const sent = chunked.put({ upload_id: 'upl_gone', conversation_key: 'x:y', index: 0 }, parts());
    await expect(sent).rejects.toMatchObject({ code: 'not_found', message: 'There is no upload.' });
    await core.terminate();
  });

  test('times out when no data moves', async () => {
    const uploads = await setUp((req) => void req.resume(), { idleMs: 50 });
    const hung = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) };
    await expect(uploads.save({ name: 'a', data: hung })).rejects.toMatchObject({ code: 'unavailable' });
    await expect(uploads.save({ name: 'a', data: Buffer.from('abc') })).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('fails when its source fails', async () => {
    const uploads = await setUp(ok);
    const failing = async function* () {
      yield new Uint8Array(1);
      throw new Error('the platform hung up');
    };
    await expect(uploads.save({ name: 'a', data: failing() })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('the platform hung up'),
    });
  });

  test('fails when the connector stops', async () => {
    const stop = new AbortController();
    const uploads = await setUp((req) => void req.resume().on('end', () => stop.abort()), { signal: stop.signal });
    await expect(uploads.save({ name: 'a', data: Buffer.from('a') })).rejects.toThrow('The connector is stopping');
  });

  test('is unavailable when the core is unreachable', async () => {
    const uploads = createUploads({
      tickets: createFileTickets(),
      coreUrl: 'http://127.0.0.1:9',
      pass: 'a-pass',
      clock: systemClock,
      signal: shutdown.signal,
    });
    await expect(uploads.save({ name: 'a', data: Buffer.from('a') })).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('uploads eight files at once and rejects more', async () => {
    const waiting: (() => void)[] = [];
    const uploads = await setUp((req, res) => void waiting.push(() => ok(req, res)));
    const saving = Array.from({ length: 8 }, () => uploads.save({ name: 'a', data: Buffer.from('a') }));
    await expect(uploads.save({ name: 'a', data: Buffer.from('a') })).rejects.toMatchObject({ code: 'queue_full' });
    await expect.poll(() => waiting.length).toBe(8);
    for (const go of waiting) go();
    expect(await Promise.all(saving)).toHaveLength(8);
  });
});

function sendForever(res: ServerResponse): void {
  const more = () => {
    while (!res.destroyed && res.write('x'.repeat(10_000)));
    res.once('drain', more);
  };
  more();
}

/** True when a count is positive and has not changed since the last call. */
function isSteady(count: () => number): () => boolean {
  let before = 0;
  return () => {
    const now = count();
    const isSame = now > 0 && now === before;
    before = now;
    return isSame;
  };
}

/** Rejects each upload before its body has arrived, and signals when that is done, including the close of the connection if it ends. */
const refusingCore = `
  const { parentPort, workerData: answered } = require('node:worker_threads');
  const done = () => { Atomics.store(answered, 0, 1); Atomics.notify(answered, 0); };
  const server = require('node:http').createServer((req, res) => {
    if (res.shouldKeepAlive) res.on('finish', done);
    else req.socket.on('close', done);
    res.writeHead(404).end('{"ok":false,"error":"not_found","message":"There is no upload."}');
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;
