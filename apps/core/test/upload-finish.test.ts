import { randomBytes } from 'node:crypto';
import { readFileSync, readdirSync, truncateSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { UploadedFile } from '@svc/contract/upload.ts';
import { chunkOf, chunkSize, openUploadBench, sha } from './open-upload-bench.ts';

const bench = openUploadBench();
const { begin, finish, inUploads, lines, open, put, sendAll, state } = bench;

describe('finishing a chunked upload', () => {
  test('with an invalid digest is rejected and finishes nothing', async () => {
    await open();
    const bytes = randomBytes(10);
    const id = await begin(bytes);
    await sendAll(id, bytes);
    expect((await finish(id, { sha256: 'short' })).statusCode).toBe(400);
    expect(lines()).toEqual([]);
    expect((await bench.core.app.inject({ method: 'POST', url: `/v2/upload/${id}/finish` })).statusCode).toBe(200);
  });

  test('[U05] works for an empty file, which has no chunks', async () => {
    await open();
    const empty = Buffer.alloc(0);
    const id = await begin(empty, { sha256: sha(empty) });
    expect(await state(id)).toMatchObject({ size: 0, chunks: 0, received: [] });
    expect((await put(id, 0, empty)).statusCode).toBe(400);
    expect((await finish(id, { sha256: sha(Buffer.from('x')) })).statusCode).toBe(422);
    const { file } = (await finish(id)).json<{ file: UploadedFile }>();
    expect(file).toMatchObject({ bytes: 0, sha256: sha(empty) });
    expect(readFileSync(file.path)).toHaveLength(0);
    expect(await state(id)).toMatchObject({ size: 0, chunks: 0, received: [], file });
    expect((await finish(id)).json()).toMatchObject({ file });
    expect(lines()).toHaveLength(1);
  });

  test('answers 422 when the file on the disk is too short: no file, no line', async () => {
    await open();
    const bytes = randomBytes(2 * chunkSize);
    const id = await begin(bytes);
    await sendAll(id, bytes);
    truncateSync(inUploads('.staging', id, 'data'), chunkSize);
    const answer = await finish(id);
    expect([answer.statusCode, answer.json<{ message: string }>().message]).toEqual([
      422,
      expect.stringContaining(`${chunkSize} bytes on the disk, not ${2 * chunkSize}`),
    ]);
    expect(lines()).toEqual([]);
    expect((await state(id)).received).toEqual([0, 1]);
  });

  test('[U04] with gaps answers 409 with the missing chunks, and works once they are filled', async () => {
    await open();
    const bytes = randomBytes(3 * chunkSize);
    const id = await begin(bytes);
    await put(id, 1, chunkOf(bytes, 1));
    const early = await finish(id);
    expect(early.statusCode).toBe(409);
    expect(early.json()).toMatchObject({ error: 'conflict', missing_count: 2, missing: [0, 2] });
    await put(id, 0, chunkOf(bytes, 0));
    await put(id, 2, chunkOf(bytes, 2));
    expect((await finish(id)).statusCode).toBe(200);
  });

  test.each(['init', 'finish'])(
    '[U05] with a wrong digest given at %s answers 422: still in progress, no file, no line',
    async (where) => {
      await open();
      const bytes = randomBytes(chunkSize);
      const wrong = { sha256: '0'.repeat(64) };
      const id = await begin(bytes, where === 'init' ? wrong : {});
      await sendAll(id, bytes);
      const answer = await finish(id, where === 'finish' ? wrong : {});
      expect(answer.statusCode).toBe(422);
      expect((await state(id)).received).toEqual([0]);
      expect(lines()).toEqual([]);
      if (where === 'finish') expect((await finish(id)).statusCode).toBe(200);
    },
  );

  test('[U09] concurrently with a discard and a sweep makes one file and one line, or nothing', async () => {
    await open();
    for (const discards of [false, true]) {
      const bytes = randomBytes(chunkSize);
      const id = await begin(bytes);
      await sendAll(id, bytes);
      const before = lines().length;
      const ends = Array.from({ length: 20 }, () => finish(id));
      const discard = discards ? bench.core.app.inject({ method: 'DELETE', url: `/v2/upload/${id}` }) : null;
      const answers = await Promise.all([...ends, bench.core.context.uploads.sweep().then(() => null)]);
      const paths = new Set(
        answers.flatMap((answer) => (answer?.statusCode === 200 ? [answer.json<{ file: UploadedFile }>().file.path] : [])),
      );
      expect(lines().length - before).toBe(paths.size);
      expect(paths.size).toBeLessThanOrEqual(1);
      expect((await discard)?.statusCode ?? 409).toBe(paths.size === 1 ? 409 : 200);
    }
  });

  test('answers 404 after a discard and for unknown ids', async () => {
    await open();
    const id = await begin(randomBytes(chunkSize));
    expect((await bench.core.app.inject({ method: 'DELETE', url: `/v2/upload/${id}` })).json()).toEqual({ ok: true });
    expect(readdirSync(inUploads('.staging'))).toEqual([]);
    for (const gone of [id, 'upl_0000000000000000000', '..%2f..%2fcore.db', '%00', 'x'.repeat(300)]) {
      expect((await bench.core.app.inject(`/v2/upload/${gone}`)).statusCode, gone).toBe(404);
      expect((await put(gone, 0, randomBytes(chunkSize))).statusCode, gone).toBe(404);
      expect((await finish(gone)).statusCode, gone).toBe(404);
      expect((await bench.core.app.inject({ method: 'DELETE', url: `/v2/upload/${gone}` })).statusCode, gone).toBe(404);
    }
  });

  test('is idempotent, also in another process', async () => {
    await open();
    const bytes = randomBytes(chunkSize);
    const id = await begin(bytes);
    await sendAll(id, bytes);
    const first = (await finish(id)).json<{ file: UploadedFile }>();
    await open({ dataDir: bench.core.crash() });
    expect((await finish(id)).json<{ file: UploadedFile }>().file).toMatchObject({
      ...first.file,
      path: expect.stringContaining(inUploads()),
    });
    expect(await state(id)).toMatchObject({ received: [0], file: { sha256: first.file.sha256 } });
    expect(lines()).toHaveLength(1);
  });

  test('again with another digest answers 422', async () => {
    await open();
    const bytes = randomBytes(chunkSize);
    const id = await begin(bytes);
    await sendAll(id, bytes);
    expect((await finish(id)).statusCode).toBe(200);
    expect((await finish(id, { sha256: '0'.repeat(64) })).statusCode).toBe(422);
    expect((await finish(id, { sha256: sha(bytes).toUpperCase() })).statusCode).toBe(200);
    expect(lines()).toHaveLength(1);
  });
});
