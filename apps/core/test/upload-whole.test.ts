import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { connect, type AddressInfo } from 'node:net';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { UploadedFile } from '@svc/contract/upload.ts';
import { openUploadBench, sha } from './open-upload-bench.ts';

const bench = openUploadBench();
const { inUploads, lines, open, post } = bench;

describe('a single-request upload', () => {
  test.each(['text/plain', 'application/json', 'multipart/form-data', 'application/x-www-form-urlencoded'])(
    '[U16] with a name in the query takes the body as the file, whatever its type: %s',
    async (type) => {
      await open();
      const answer = await bench.core.app.inject({
        method: 'POST',
        url: '/v2/upload?filename=data.json',
        payload: '{"path":"/etc/passwd"}',
        headers: { 'content-type': type },
      });
      const { file } = answer.json<{ file: UploadedFile }>();
      expect(readFileSync(file.path, 'utf8')).toBe('{"path":"/etc/passwd"}');
      expect(file).toMatchObject({ name: 'data.json', bytes: 22 });
    },
  );

  test.each([
    ['filename=a.bin', 'image/png', 'image/png', 'image'],
    ['filename=a.bin&mime=application/pdf', 'image/png', 'application/pdf', 'document'],
    ['filename=a.csv', 'application/octet-stream', 'text/csv', 'text'],
    ['filename=a', 'application/octet-stream', 'application/octet-stream', 'other'],
    ['filename=a.html', 'image/png; charset=utf-8', 'image/png', 'image'],
  ])('%s sent as %s has the type %s', async (query, type, mime, kind) => {
    await open();
    const headers = { 'content-type': type };
    const answer = await bench.core.app.inject({ method: 'POST', url: `/v2/upload?${query}`, payload: 'x', headers });
    expect(answer.json()).toMatchObject({ ok: true, file: { mime, kind, bytes: 1 } });
  });

  test('[U16] as JSON contains base64, and paths in it are ignored', async () => {
    await open();
    const more = { path: '/etc/passwd', file: { path: '/etc/passwd' }, filepath: '/etc/shadow' };
    const answer = await post('/v2/upload', {
      filename: 'a.png',
      mime: 'image/png',
      data_base64: Buffer.from('pixels').toString('base64'),
      conversation_key: 'k',
      ...more,
    });
    const { file } = answer.json<{ file: UploadedFile }>();
    expect(file).toMatchObject({ name: 'a.png', mime: 'image/png', kind: 'image', bytes: 6 });
    expect(readFileSync(file.path, 'utf8')).toBe('pixels');
    expect(lines()).toMatchObject([{ conversation_key: 'k' }]);
  });

  test.each([
    [{ data_base64: 'aGk=' }, 'filename'],
    [{ filename: 'a' }, 'data_base64'],
    [{ filename: 'a', data_base64: 'not base64!' }, 'base64'],
  ])('%j is rejected with the reason', async (body, why) => {
    await open();
    const answer = await post('/v2/upload', body);
    expect(answer.statusCode).toBe(400);
    expect(answer.json<{ message: string }>().message).toContain(why);
    expect(lines()).toEqual([]);
    expect(existsSync(inUploads()) ? readdirSync(inUploads()).filter((name) => name !== '.staging') : []).toEqual([]);
  });

  test('[U16] may be empty, as the body with or without a type, and as JSON', async () => {
    await open();
    const raw = (headers: Record<string, string>) =>
      bench.core.app.inject({ method: 'POST', url: '/v2/upload?filename=a.txt', payload: '', headers });
    const answers = [
      await raw({}),
      await raw({ 'content-type': 'text/plain', 'content-length': '0' }),
      await raw({ 'content-type': 'application/json', 'transfer-encoding': 'chunked' }),
      await post('/v2/upload', { filename: 'a.txt', data_base64: '' }),
    ];
    for (const answer of answers) {
      expect(answer.statusCode, answer.body).toBe(200);
      const { file } = answer.json<{ file: UploadedFile }>();
      expect(file).toMatchObject({ name: 'a.txt', bytes: 0, sha256: sha(Buffer.alloc(0)) });
      expect(readFileSync(file.path)).toHaveLength(0);
    }
    expect(lines()).toHaveLength(4);
    const { id } = lines()[0]!;
    const download = await bench.core.app.inject(`/v2/uploads/${id}/file`);
    expect([download.statusCode, download.headers['content-length'], download.body]).toEqual([200, '0', '']);
  });

  test('without a name and not as JSON is rejected as an unsupported type', async () => {
    await open();
    const answer = await bench.core.app.inject({
      method: 'POST',
      url: '/v2/upload',
      payload: 'x',
      headers: { 'content-type': 'text/plain' },
    });
    expect(answer.statusCode).toBe(415);
  });

  test('[H10] over the raw body limit is rejected with the name of the setting, with and without a length', async () => {
    await open();
    const url = await bench.core.app.listen({ port: 0, host: '127.0.0.1' });
    const send = (body: Buffer | ReadableStream) =>
      fetch(`${url}/v2/upload?filename=a.bin`, { method: 'POST', body: body as never, duplex: 'half' } as RequestInit);
    const streamed = (size: number) => new Blob([new Uint8Array(size)]).stream();
    const limit = 100 * 1024;
    for (const body of [Buffer.alloc(limit), streamed(limit)]) expect((await send(body)).status).toBe(200);
    for (const body of [Buffer.alloc(limit + 1), streamed(limit + 1)]) {
      const answer = await send(body);
      expect(answer.status).toBe(413);
      expect(await answer.json()).toMatchObject({ error: 'too_large', variable: 'SVC_RAW_BODY_LIMIT' });
    }
    expect(lines()).toHaveLength(2);
    expect(readdirSync(inUploads('.staging'))).toEqual([]);
  });

  test('[H10] as JSON accepts base64 of 7,864,000 bytes, but not of 7,900,000', async () => {
    await open({ env: {} });
    const send = (size: number) =>
      post('/v2/upload', {
        filename: 'a.bin',
        mime: 'application/octet-stream',
        data_base64: Buffer.alloc(size, 7).toString('base64'),
      });
    expect((await send(7_864_000)).json()).toMatchObject({ file: { bytes: 7_864_000 } });
    expect((await send(7_900_000)).statusCode).toBe(413);
  });

  test.each([
    ['../../etc/passwd', 'passwd'],
    ['..\\..\\boot.ini', 'boot.ini'],
    ['/absolute/name.txt', 'name.txt'],
    ['a\0b.txt', 'ab.txt'],
    ['.', 'file'],
    ['..', 'file'],
    ['   ', 'file'],
    ['.hidden', 'hidden'],
    ['\u202Efdp.exe', 'fdp.exe'],
    ['-rf', 'rf'],
    ['Grüße 日本.pdf', 'Grüße 日本.pdf'],
  ])('[U01] stores the name %j as %j, inside the upload area', async (filename, name) => {
    await open();
    const answer = await post('/v2/upload', { filename, data_base64: 'aGk=' });
    const { file } = answer.json<{ file: UploadedFile }>();
    expect(file.name).toBe(name);
    expect(path.relative(inUploads(), file.path).split(path.sep)).toHaveLength(2);
  });

  test('[U01] stores a file with any name inside the upload area', async () => {
    await open();
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1, maxLength: 400 }), async (filename) => {
        const { file } = (await post('/v2/upload', { filename, data_base64: 'aGk=' })).json<{ file: UploadedFile }>();
        expect(path.relative(inUploads(), file.path).split(path.sep)).toHaveLength(2);
        expect(Buffer.byteLength(path.basename(file.path))).toBeLessThanOrEqual(255);
        expect(readFileSync(file.path, 'utf8')).toBe('hi');
      }),
      { numRuns: 60 },
    );
  });
});

describe('files uploaded as JSON', () => {
  test('count against the intake limit from their first byte until the answer', async () => {
    await open();
    const { app, context } = bench.core;
    await app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = app.server.address() as AddressInfo;
    const body = JSON.stringify({ filename: 'a.txt', data_base64: Buffer.alloc(900_000).toString('base64') });
    const head = `Host: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n`;
    const sockets = ['/v2/upload', '/v2/upload', '/v2/silos/x/file'].map((url) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(`POST ${url} HTTP/1.1\r\n${head}\r\n${body.slice(0, -1)}`));
      return socket;
    });
    const held = () => context.intake.memory.held + context.intake.disk.held;
    await expect.poll(held).toBeGreaterThan(2 * 900_000);
    const ends = sockets.map((socket) => once(socket.resume(), 'close'));
    for (const socket of sockets) socket.write('}');
    await Promise.all(ends);
    await expect.poll(held).toBe(0);
  });

  test.each([10, 60_000, 900_000])('arrive complete over a connection with %i bytes', async (bytes) => {
    await open({ env: { SVC_RAW_BODY_LIMIT: '10mb' } });
    const url = await bench.core.app.listen({ port: 0, host: '127.0.0.1' });
    const body = JSON.stringify({ filename: 'a.txt', data_base64: Buffer.alloc(bytes, 'x').toString('base64') });
    const answer = await fetch(`${url}/v2/upload`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect(await answer.json()).toMatchObject({ ok: true, file: { bytes } });
  });

  test('are rejected when the intake limits are reached', async () => {
    await open({ env: { SVC_RAW_BODY_LIMIT: '10mb' } });
    const { app, context } = bench.core;
    const [memory, disk] = [context.intake.memory.lease(), context.intake.disk.lease()];
    memory.take(context.intake.limits.memoryBytes);
    disk.take(context.intake.limits.diskBytes);
    const payload = { filename: 'a.txt', data_base64: Buffer.alloc(900_000).toString('base64') };
    expect((await app.inject({ method: 'POST', url: '/v2/upload', payload })).statusCode).toBe(429);
    memory.release();
    disk.release();
    expect((await app.inject({ method: 'POST', url: '/v2/upload', payload })).statusCode).toBe(200);
  });
});
