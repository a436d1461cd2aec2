import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { UploadState, UploadedFile } from '@svc/contract/upload.ts';
import { chunkOf, chunkSize, openUploadBench, sha } from './open-upload-bench.ts';

const bench = openUploadBench();
const { begin, finish, inUploads, lines, open, post, put, state } = bench;

describe('a chunked upload', () => {
  test('becomes a file with one line in the manifest', async () => {
    await open();
    const bytes = randomBytes(2 * chunkSize + 100);
    const answer = await post('/v2/upload/init', {
      filename: 'photo.jpg',
      mime: 'image/jpeg',
      size: bytes.length,
      sha256: sha(bytes).toUpperCase(),
      conversation_key: 'compat:c1:x',
    });
    expect(answer.json()).toEqual({
      ok: true,
      upload_id: expect.any(String),
      size: bytes.length,
      chunk_size: 1024,
      chunks: 3,
      received: [],
    });
    const id = answer.json<UploadState>().upload_id;
    expect((await put(id, 2, chunkOf(bytes, 2))).json()).toEqual({ ok: true, received_count: 1, chunks: 3 });
    await put(id, 0, chunkOf(bytes, 0), { 'x-chunk-sha256': sha(chunkOf(bytes, 0)) });
    expect(await state(id)).toEqual({ upload_id: id, size: bytes.length, chunk_size: 1024, chunks: 3, received: [0, 2] });
    expect(lines()).toEqual([]);
    await put(id, 1, chunkOf(bytes, 1));
    const { ok, file } = (await finish(id)).json<{ ok: boolean; file: UploadedFile }>();
    expect(ok).toBe(true);
    expect(file).toEqual({
      id,
      path: expect.stringContaining(inUploads()),
      name: 'photo.jpg',
      mime: 'image/jpeg',
      kind: 'image',
      bytes: bytes.length,
      sha256: sha(bytes),
    });
    expect(readFileSync(file.path)).toEqual(bytes);
    expect(lines()).toEqual([
      {
        ...file,
        path: path.relative(inUploads(), file.path),
        id,
        conversation_key: 'compat:c1:x',
        created_at: expect.any(Number),
      },
    ]);
    expect(lstatSync(file.path).mode & 0o777).toBe(0o600);
  });

  test('[U03] accepts chunks in any order, repeated, concurrently and across a crash', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 * chunkSize }),
        fc.infiniteStream(fc.nat()),
        fc.nat(),
        async (size, random, cut) => {
          await open();
          const bytes = randomBytes(size);
          const id = await begin(bytes, { sha256: sha(bytes) });
          const count = Math.ceil(size / chunkSize);
          const order = [...Array(count).keys(), ...Array(count).keys()].sort(() => ((random.next().value ?? 0) % 3) - 1);
          const some = cut % order.length;
          await Promise.all(order.slice(0, some).map((index) => put(id, index, chunkOf(bytes, index))));
          const known = new Set(order.slice(0, some));
          await open({ dataDir: bench.core.crash() });
          expect((await state(id)).received).toEqual([...known].sort((a, b) => a - b));
          await Promise.all(order.slice(some).map((index) => put(id, index, chunkOf(bytes, index))));
          expect((await finish(id)).json()).toMatchObject({ file: { bytes: size, sha256: sha(bytes) } });
          await bench.core.close();
        },
      ),
      { numRuns: 15 },
    );
    await open();
  });

  test.each([-1, 1.5, '5', null])('[U02] rejects a size of %j as a bad request', async (size) => {
    await open();
    expect((await post('/v2/upload/init', { filename: 'a', mime: 'a/b', size })).statusCode).toBe(400);
  });

  test.each([2 ** 20 + 1, 2 ** 53])('[U02] rejects a size of %d, naming the limit', async (size) => {
    await open();
    const answer = await post('/v2/upload/init', { filename: 'a', mime: 'a/b', size });
    expect(answer.statusCode).toBe(413);
    expect(answer.json()).toMatchObject({ error: 'too_large', variable: 'SVC_UPLOAD_MAX_SIZE' });
  });

  test.each([
    {},
    { mime: 'a/b', size: 1 },
    { filename: 'a', size: 1 },
    { filename: 'a', mime: 'a/b' },
    { filename: '', mime: 'a/b', size: 1 },
    { filename: 'a', mime: 'a/b', size: 1, sha256: 'short' },
    { filename: 'a', mime: 'a/b', size: 1, conversation_key: '' },
    [],
  ])('rejects init with %j', async (body) => {
    await open();
    expect((await post('/v2/upload/init', body)).statusCode).toBe(400);
    expect(existsSync(inUploads())).toBe(false);
  });

  test('has the documented limits by default', async () => {
    await open({ env: {} });
    expect(bench.core.context.settings).toMatchObject({
      rawBodyBytes: 1024 * 2 ** 20,
      uploadChunkBytes: 8 * 2 ** 20,
      uploadMaxChunkBytes: 64 * 2 ** 20,
      uploadMaxBytes: 128 * 2 ** 30,
    });
    const init = (size: number) => post('/v2/upload/init', { filename: 'a', mime: 'a/b', size });
    expect((await init(20 * 2 ** 20)).json()).toMatchObject({ chunk_size: 8 * 2 ** 20, chunks: 3 });
    expect((await init(128 * 2 ** 30 + 1)).statusCode).toBe(413);
  });

  test('[U06] rejects a chunk with a wrong digest with 422, and keeps an earlier good one', async () => {
    await open();
    const bytes = randomBytes(2 * chunkSize);
    const id = await begin(bytes);
    const wrong = { 'x-chunk-sha256': sha(Buffer.from('other')) };
    expect((await put(id, 0, chunkOf(bytes, 0), wrong)).statusCode).toBe(422);
    expect((await state(id)).received).toEqual([]);
    await put(id, 0, chunkOf(bytes, 0));
    expect((await put(id, 0, randomBytes(chunkSize), wrong)).statusCode).toBe(422);
    await put(id, 1, chunkOf(bytes, 1));
    expect((await finish(id)).json()).toMatchObject({ file: { sha256: sha(bytes) } });
  });

  test('[U07] rejects an invalid index, a chunk of the wrong length and one over the limit', async () => {
    await open();
    const bytes = randomBytes(2 * chunkSize);
    const id = await begin(bytes);
    for (const index of [2, -1, '1.5', 'x', '99999999999', '0x0'])
      expect((await put(id, index, chunkOf(bytes, 0))).statusCode, String(index)).toBe(400);
    expect((await put(id, 0, bytes.subarray(0, 1000))).statusCode).toBe(400);
    expect((await put(id, 0, bytes.subarray(0, 1025))).statusCode).toBe(400);
    const over = await put(id, 0, Buffer.alloc(4097));
    expect(over.statusCode).toBe(413);
    expect(over.json()).toMatchObject({ variable: 'SVC_UPLOAD_MAX_CHUNK' });
    expect((await put(id, 0, chunkOf(bytes, 0), { 'x-chunk-sha256': 'short' })).statusCode).toBe(400);
    expect((await state(id)).received).toEqual([]);
  });

  test('[U08] stores one complete body of concurrent ones for the same chunk', async () => {
    await open();
    const one = Buffer.alloc(chunkSize, 1);
    const two = Buffer.alloc(chunkSize, 2);
    const id = await begin(one);
    await Promise.all([put(id, 0, one), put(id, 0, two), put(id, 0, one)]);
    const { file } = (await finish(id)).json<{ file: UploadedFile }>();
    expect([one, two].some((body) => body.equals(readFileSync(file.path)))).toBe(true);
    expect(file.sha256).toBe(sha(readFileSync(file.path)));
  });

  test('replaces a chunk that is sent again, even after a failed finish', async () => {
    await open();
    const bytes = randomBytes(2 * chunkSize + 100);
    const id = await begin(bytes, { sha256: sha(bytes) });
    for (const index of [0, 1, 2]) await put(id, index, chunkOf(randomBytes(bytes.length), index));
    expect((await finish(id)).statusCode).toBe(422);
    expect((await put(id, 0, chunkOf(bytes, 0))).json()).toEqual({ ok: true, received_count: 3, chunks: 3 });
    await open({ dataDir: bench.core.crash() });
    for (const index of [2, 1]) await put(id, index, chunkOf(bytes, index), { 'x-chunk-sha256': sha(chunkOf(bytes, index)) });
    const { file } = (await finish(id)).json<{ file: UploadedFile }>();
    expect(file).toMatchObject({ bytes: bytes.length, sha256: sha(bytes) });
    expect(readFileSync(file.path)).toEqual(bytes);
  });

  test('includes a chunk replaced during the finish completely or not at all', async () => {
    await open();
    for (let run = 0; run < 10; run++) {
      const [one, two] = [randomBytes(chunkSize), randomBytes(chunkSize)];
      const id = await begin(one);
      await put(id, 0, one);
      const [again, end] = await Promise.all([put(id, 0, two), finish(id)]);
      expect([200, 404]).toContain(again.statusCode);
      const { file } = (end.statusCode === 200 ? end : await finish(id)).json<{ file: UploadedFile }>();
      expect(file.sha256).toBe(sha(again.statusCode === 200 ? two : one));
      expect(sha(readFileSync(file.path))).toBe(file.sha256);
    }
  });
});
