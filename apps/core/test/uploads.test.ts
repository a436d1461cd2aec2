import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ManifestEntry, UploadState, UploadedFile } from '@svc/contract/upload.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { lookAfterUploads } from '../src/upload/look-after-uploads.ts';
import type { Uploads } from '../src/upload/uploads.ts';
import { openTestCore, type TestCore } from './open-test-core.ts';

const chunkSize = 1024;
const env = {
  SVC_UPLOAD_CHUNK_SIZE: String(chunkSize),
  SVC_UPLOAD_MAX_CHUNK: '4kb',
  SVC_UPLOAD_MAX_SIZE: '1mb',
  SVC_RAW_BODY_LIMIT: '100kb',
};
const sha = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

let core: TestCore;
afterEach(() => core.close());
const open = async (dataDir?: string) => (core = await openTestCore({ env, dataDir }));
const uploads = (...parts: string[]) => path.join(core.folder, 'uploads', ...parts);

const post = (url: string, payload?: object) => core.app.inject({ method: 'POST', url, payload });
const begin = async (bytes: Buffer, more: object = {}): Promise<string> => {
  const answer = await post('/v2/upload/init', {
    filename: 'a.bin',
    mime: 'application/octet-stream',
    size: bytes.length,
    ...more,
  });
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json<UploadState>().upload_id;
};
const chunkOf = (bytes: Buffer, index: number) => bytes.subarray(index * chunkSize, (index + 1) * chunkSize);
const put = (id: string, index: number | string, payload: Buffer, headers: Record<string, string> = {}) =>
  core.app.inject({
    method: 'PUT',
    url: `/v2/upload/${id}/${index}`,
    payload,
    headers: { 'content-type': 'application/octet-stream', ...headers },
  });
const finish = (id: string, body: object = {}) => post(`/v2/upload/${id}/finish`, body);
const state = async (id: string) => (await core.app.inject(`/v2/upload/${id}`)).json<UploadState>();
const lines = (): ManifestEntry[] =>
  existsSync(uploads('manifest.jsonl'))
    ? readFileSync(uploads('manifest.jsonl'), 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('{') && line.endsWith('}'))
        .map((line) => JSON.parse(line) as ManifestEntry)
    : [];
const sendAll = async (id: string, bytes: Buffer) => {
  for (let index = 0; index * chunkSize < bytes.length; index++)
    expect((await put(id, index, chunkOf(bytes, index))).statusCode).toBe(200);
};

describe('an upload in chunks', () => {
  test('goes from init to a file with its one line', async () => {
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
      path: expect.stringContaining(uploads()),
      name: 'photo.jpg',
      mime: 'image/jpeg',
      kind: 'image',
      bytes: bytes.length,
      sha256: sha(bytes),
    });
    expect(readFileSync(file.path)).toEqual(bytes);
    expect(lines()).toEqual([
      { ...file, path: path.relative(uploads(), file.path), id, conversation_key: 'compat:c1:x', created_at: expect.any(Number) },
    ]);
    expect(lstatSync(file.path).mode & 0o777).toBe(0o600);
  });

  test('[U03] chunks in any order, repeated and at once, with a new core in between, give the same bytes', async () => {
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
          await open(core.crash());
          expect((await state(id)).received).toEqual([...known].sort((a, b) => a - b));
          await Promise.all(order.slice(some).map((index) => put(id, index, chunkOf(bytes, index))));
          expect((await finish(id)).json()).toMatchObject({ file: { bytes: size, sha256: sha(bytes) } });
          await core.close();
        },
      ),
      { numRuns: 15 },
    );
    await open();
  });

  test.each([0, -1, 1.5, '5', null])('[U02] a size of %j is a bad request', async (size) => {
    await open();
    expect((await post('/v2/upload/init', { filename: 'a', mime: 'a/b', size })).statusCode).toBe(400);
  });
  test.each([2 ** 20 + 1, 2 ** 53])('[U02] a size of %d is over the limit, which is named', async (size) => {
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
  ])('a beginning with %j is malformed', async (body) => {
    await open();
    expect((await post('/v2/upload/init', body)).statusCode).toBe(400);
    expect(existsSync(uploads())).toBe(false);
  });

  test('a finish with a digest that is none is malformed, and nothing ends', async () => {
    await open();
    const bytes = randomBytes(10);
    const id = await begin(bytes);
    await sendAll(id, bytes);
    expect((await finish(id, { sha256: 'short' })).statusCode).toBe(400);
    expect(lines()).toEqual([]);
    expect((await core.app.inject({ method: 'POST', url: `/v2/upload/${id}/finish` })).statusCode).toBe(200);
  });

  test('a file that is shorter on the disk than it was declared is 422: no file, no line', async () => {
    await open();
    const bytes = randomBytes(2 * chunkSize);
    const id = await begin(bytes);
    await sendAll(id, bytes);
    truncateSync(uploads('.staging', id, 'data'), chunkSize);
    const answer = await finish(id);
    expect([answer.statusCode, answer.json<{ message: string }>().message]).toEqual([
      422,
      expect.stringContaining(`${chunkSize} bytes on the disk, not ${2 * chunkSize}`),
    ]);
    expect(lines()).toEqual([]);
    expect((await state(id)).received).toEqual([0, 1]);
  });

  test('what an operator does not set has the limits that are documented', async () => {
    core = await openTestCore();
    expect(core.context.settings).toMatchObject({
      rawBodyBytes: 1024 * 2 ** 20,
      uploadChunkBytes: 8 * 2 ** 20,
      uploadMaxChunkBytes: 64 * 2 ** 20,
      uploadMaxBytes: 128 * 2 ** 30,
    });
    const init = (size: number) => post('/v2/upload/init', { filename: 'a', mime: 'a/b', size });
    expect((await init(20 * 2 ** 20)).json()).toMatchObject({ chunk_size: 8 * 2 ** 20, chunks: 3 });
    expect((await init(128 * 2 ** 30 + 1)).statusCode).toBe(413);
  });

  test('[U04] finishing with gaps is a conflict that names them, and works when they are filled', async () => {
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
    '[U05] a wrong digest of the whole, given at %s, is 422: still in progress, no file, no line',
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

  test('[U06] a chunk with a wrong digest is 422 and not received; an earlier good one is kept', async () => {
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

  test('[U07] an index that is none, a chunk that is too long or too short, one over the limit', async () => {
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

  test('[U08] of two bodies for one chunk at once, one whole body wins', async () => {
    await open();
    const one = Buffer.alloc(chunkSize, 1);
    const two = Buffer.alloc(chunkSize, 2);
    const id = await begin(one);
    await Promise.all([put(id, 0, one), put(id, 0, two), put(id, 0, one)]);
    const { file } = (await finish(id)).json<{ file: UploadedFile }>();
    expect([one, two].some((body) => body.equals(readFileSync(file.path)))).toBe(true);
    expect(file.sha256).toBe(sha(readFileSync(file.path)));
  });

  test('[U09] many finishes, a discard and a sweep at once make one file and one line, or nothing', async () => {
    await open();
    for (const discards of [false, true]) {
      const bytes = randomBytes(chunkSize);
      const id = await begin(bytes);
      await sendAll(id, bytes);
      const before = lines().length;
      const ends = Array.from({ length: 20 }, () => finish(id));
      const discard = discards ? core.app.inject({ method: 'DELETE', url: `/v2/upload/${id}` }) : null;
      const answers = await Promise.all([...ends, core.context.uploads.sweep().then(() => null)]);
      const paths = new Set(
        answers.flatMap((answer) => (answer?.statusCode === 200 ? [answer.json<{ file: UploadedFile }>().file.path] : [])),
      );
      expect(lines().length - before).toBe(paths.size);
      expect(paths.size).toBeLessThanOrEqual(1);
      expect((await discard)?.statusCode ?? 409).toBe(paths.size === 1 ? 409 : 200);
    }
  });

  test('a discarded upload is gone, and so are ids that never were', async () => {
    await open();
    const id = await begin(randomBytes(chunkSize));
    expect((await core.app.inject({ method: 'DELETE', url: `/v2/upload/${id}` })).json()).toEqual({ ok: true });
    expect(readdirSync(uploads('.staging'))).toEqual([]);
    for (const gone of [id, 'upl_0000000000000000000', '..%2f..%2fcore.db', '%00', 'x'.repeat(300)]) {
      expect((await core.app.inject(`/v2/upload/${gone}`)).statusCode, gone).toBe(404);
      expect((await put(gone, 0, randomBytes(chunkSize))).statusCode, gone).toBe(404);
      expect((await finish(gone)).statusCode, gone).toBe(404);
      expect((await core.app.inject({ method: 'DELETE', url: `/v2/upload/${gone}` })).statusCode, gone).toBe(404);
    }
  });

  test('a finished upload stays known: its end and its state can be asked for again, also by another process', async () => {
    await open();
    const bytes = randomBytes(chunkSize);
    const id = await begin(bytes);
    await sendAll(id, bytes);
    const first = (await finish(id)).json<{ file: UploadedFile }>();
    await open(core.crash());
    expect((await finish(id)).json<{ file: UploadedFile }>().file).toMatchObject({
      ...first.file,
      path: expect.stringContaining(uploads()),
    });
    expect(await state(id)).toMatchObject({ received: [0], file: { sha256: first.file.sha256 } });
    expect(lines()).toHaveLength(1);
  });
});

describe('the staging folder', () => {
  const age = (id: string, hours: number) => {
    const at = new Date(Date.now() - hours * 3_600_000);
    for (const name of ['data', 'map', ''])
      if (existsSync(uploads('.staging', id, name))) utimesSync(uploads('.staging', id, name), at, at);
  };

  test('[U12] what nothing came for in 24 hours is swept, what is younger is kept', async () => {
    await open();
    const [old, young] = [await begin(randomBytes(10)), await begin(randomBytes(10))];
    age(old, 25);
    age(young, 23);
    await core.context.uploads.sweep();
    expect(readdirSync(uploads('.staging'))).toEqual([young]);
    expect((await core.app.inject(`/v2/upload/${old}`)).statusCode).toBe(404);
  });

  test('[U12] what is being written is kept, however old it looks', async () => {
    await open();
    const id = await begin(randomBytes(chunkSize));
    const body = new PassThrough();
    const chunk = { body, length: null, sha256: null };
    const landing = core.context.uploads.receive(id, 0, chunk);
    body.write(randomBytes(10));
    age(id, 25);
    await core.context.uploads.sweep();
    body.end(randomBytes(chunkSize - 10));
    expect(await landing).toEqual({ received_count: 1, chunks: 1 });
  });

  test('is swept soon after the start, then every hour, and no more after the end', async () => {
    await open();
    const clock = createFakeClock();
    let sweeps = 0;
    const end = lookAfterUploads({ uploads: { sweep: async () => void sweeps++ } as Uploads, clock, log: core.context.log });
    clock.advance(3000);
    expect(sweeps).toBe(1);
    clock.advance(60 * 60_000 - 3001);
    expect(sweeps).toBe(1);
    clock.advance(1);
    expect(sweeps).toBe(2);
    clock.advance(2 * 60 * 60_000);
    expect(sweeps).toBe(4);
    end();
    clock.advance(24 * 60 * 60_000);
    expect(sweeps).toBe(4);
  });

  test.each(['before the file moved', 'before the line'])(
    '[U10] an end that a crash cut %s is made good by the sweep',
    async (when) => {
      await open();
      const bytes = randomBytes(chunkSize);
      const id = await begin(bytes);
      await sendAll(id, bytes);
      const { file } = (await finish(id)).json<{ file: UploadedFile }>();
      const manifest = readFileSync(uploads('manifest.jsonl'), 'utf8');
      writeFileSync(uploads('manifest.jsonl'), '');
      if (when === 'before the file moved') {
        writeFileSync(uploads('.staging', id, 'data'), bytes);
        rmSync(file.path);
      }
      const place = path.relative(core.folder, file.path);
      await open(core.crash());
      await core.context.uploads.sweep();
      expect(readFileSync(path.join(core.folder, place))).toEqual(bytes);
      expect(readFileSync(uploads('manifest.jsonl'), 'utf8')).toBe(manifest);
      await core.context.uploads.sweep();
      expect(lines()).toHaveLength(1);
    },
  );

  test('[U13] links that somebody planted are not followed', async () => {
    await open();
    const outside = mkdtempSync(path.join(core.folder, 'outside-'));
    writeFileSync(path.join(outside, 'data'), 'untouched!');
    const bytes = randomBytes(10);
    const id = await begin(bytes);
    rmSync(uploads('.staging', id, 'data'));
    symlinkSync(path.join(outside, 'data'), uploads('.staging', id, 'data'));
    expect((await put(id, 0, bytes)).statusCode).toBeGreaterThanOrEqual(500);
    expect(readFileSync(path.join(outside, 'data'), 'utf8')).toBe('untouched!');

    symlinkSync(outside, uploads(new Date().toISOString().slice(0, 10)));
    const whole = await core.app.inject({ method: 'POST', url: '/v2/upload?filename=a.txt', payload: 'text' });
    expect(whole.statusCode).toBeGreaterThanOrEqual(500);
    expect(readdirSync(outside)).toEqual(['data']);
  });

  test('[U14] on another file system the end is atomic all the same', async ({ skip }) => {
    skip(!existsSync('/dev/shm'), 'this machine has no second file system at /dev/shm');
    const other = mkdtempSync('/dev/shm/staging-');
    onTestFinished(() => rmSync(other, { recursive: true, force: true }));
    await open();
    mkdirSync(uploads(), { recursive: true });
    symlinkSync(other, uploads('.staging'));
    const bytes = randomBytes(3 * chunkSize);
    const id = await begin(bytes);
    await sendAll(id, bytes);
    const { file } = (await finish(id)).json<{ file: UploadedFile }>();
    expect(readFileSync(file.path)).toEqual(bytes);
    expect(readdirSync(path.dirname(file.path))).toHaveLength(1);
  });

  test('[U14] a last line that was torn is skipped, and the next one stands by itself', async () => {
    await open();
    await core.app.inject({ method: 'POST', url: '/v2/upload?filename=a.txt', payload: 'one' });
    writeFileSync(uploads('manifest.jsonl'), '{"id":"upl_', { flag: 'a' });
    await core.app.inject({ method: 'POST', url: '/v2/upload?filename=b.txt', payload: 'two' });
    const { files } = (await core.app.inject('/v2/uploads')).json<{ files: ManifestEntry[] }>();
    expect(files.map(({ name }) => name)).toEqual(['b.txt', 'a.txt']);
  });
});

describe('a file in one piece', () => {
  test.each(['text/plain', 'application/json', 'multipart/form-data', 'application/x-www-form-urlencoded'])(
    '[U16] a name in the query says that the body is the file, whatever its type: %s',
    async (type) => {
      await open();
      const answer = await core.app.inject({
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
  ])('%s sent as %s is of type %s', async (query, type, mime, kind) => {
    await open();
    const headers = { 'content-type': type };
    const answer = await core.app.inject({ method: 'POST', url: `/v2/upload?${query}`, payload: 'x', headers });
    expect(answer.json()).toMatchObject({ ok: true, file: { mime, kind, bytes: 1 } });
  });

  test('[U16] JSON carries base64; a place that it names is ignored', async () => {
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
    [{ filename: 'a', data_base64: '' }, 'empty'],
  ])('%j is refused, and says why', async (body, why) => {
    await open();
    const answer = await post('/v2/upload', body);
    expect(answer.statusCode).toBe(400);
    expect(answer.json<{ message: string }>().message).toContain(why);
    expect(lines()).toEqual([]);
    expect(existsSync(uploads()) ? readdirSync(uploads()).filter((name) => name !== '.staging') : []).toEqual([]);
  });

  test('a body without a name that is no JSON is an unsupported type', async () => {
    await open();
    const answer = await core.app.inject({
      method: 'POST',
      url: '/v2/upload',
      payload: 'x',
      headers: { 'content-type': 'text/plain' },
    });
    expect(answer.statusCode).toBe(415);
  });

  test('[H10] the limit of a raw body is named, with and without a length', async () => {
    await open();
    const url = await core.app.listen({ port: 0, host: '127.0.0.1' });
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
    expect(readdirSync(uploads('.staging'))).toEqual([]);
  });

  test('[H10] base64 of 7,864,000 bytes fits the JSON limit, that of 7,900,000 does not', async () => {
    core = await openTestCore();
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
  ])('[U01] the name %j is kept as %j, inside the area', async (filename, name) => {
    await open();
    const answer = await post('/v2/upload', { filename, data_base64: 'aGk=' });
    const { file } = answer.json<{ file: UploadedFile }>();
    expect(file.name).toBe(name);
    expect(path.relative(uploads(), file.path).split(path.sep)).toHaveLength(2);
  });

  test('[U01] any name gives a file of the area', async () => {
    await open();
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1, maxLength: 400 }), async (filename) => {
        const { file } = (await post('/v2/upload', { filename, data_base64: 'aGk=' })).json<{ file: UploadedFile }>();
        expect(path.relative(uploads(), file.path).split(path.sep)).toHaveLength(2);
        expect(Buffer.byteLength(path.basename(file.path))).toBeLessThanOrEqual(255);
        expect(readFileSync(file.path, 'utf8')).toBe('hi');
      }),
      { numRuns: 60 },
    );
  });
});

describe('what was uploaded', () => {
  const upload = async (name: string, mime: string, bytes: Buffer) => {
    await post('/v2/upload', { filename: name, mime, data_base64: bytes.toString('base64') });
    return lines().at(-1)?.id ?? '';
  };

  test('is listed newest first, in pages', async () => {
    await open();
    for (const name of ['a', 'b', 'c', 'd', 'e']) await upload(name, 'text/plain', Buffer.from(name));
    type Page = { files: ManifestEntry[]; next: string | null };
    const first = (await core.app.inject('/v2/uploads?limit=2')).json<Page>();
    const second = (await core.app.inject(`/v2/uploads?limit=2&before=${first.next}`)).json<Page>();
    const third = (await core.app.inject(`/v2/uploads?limit=2&before=${second.next}`)).json<Page>();
    expect([first, second, third].map(({ files }) => files.map(({ name }) => name))).toEqual([['e', 'd'], ['c', 'b'], ['a']]);
    expect(third.next).toBeNull();
    expect((await core.app.inject('/v2/uploads?limit=-1')).statusCode).toBe(400);
  });

  test('[U15] comes back as a download that a browser does not run', async () => {
    await open();
    const id = await upload('page "x" ü.html', 'text/html', Buffer.from('<script>alert(1)</script>'));
    const { headers, body, statusCode } = await core.app.inject(`/v2/uploads/${id}/file`);
    expect(statusCode).toBe(200);
    expect(body).toBe('<script>alert(1)</script>');
    expect(headers['content-disposition']).toMatch(/^attachment; filename=/);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    });
  });

  const stored = async () => {
    await open();
    const id = await upload('a.bin', 'application/octet-stream', Buffer.from('0123456789'));
    const ask = (headers: Record<string, string>, method: 'GET' | 'HEAD' = 'GET') =>
      core.app.inject({ method, url: `/v2/uploads/${id}/file`, headers });
    return { id, ask, file: lines().at(-1)?.path ?? '' };
  };

  test('comes in ranges, and not at all for an id that is none', async () => {
    const { ask } = await stored();
    expect(await ask({ range: 'bytes=2-4' })).toMatchObject({
      statusCode: 206,
      body: '234',
      headers: {
        'content-range': 'bytes 2-4/10',
        'content-length': '3',
        'content-disposition': expect.stringMatching(/^attach/),
      },
    });
    expect(await ask({ range: 'bytes=-3' })).toMatchObject({ statusCode: 206, body: '789' });
    expect(await ask({ range: 'bytes=20-30' })).toMatchObject({ statusCode: 416, headers: { 'content-range': 'bytes */10' } });
    expect(await ask({ range: 'bytes=0-1,5-6' })).toMatchObject({ statusCode: 200, body: '0123456789' });
    expect(await ask({ range: 'bytes=x' })).toMatchObject({ statusCode: 200, body: '0123456789' });
    for (const none of ['upl_0000000000000000000', '..%2f..%2fcore.db'])
      expect((await core.app.inject(`/v2/uploads/${none}/file`)).statusCode).toBe(404);
  });

  test('goes on from where it broke off, unless it is another file by now', async () => {
    const { ask, file } = await stored();
    const { etag = '', 'last-modified': modified = '' } = (await ask({})).headers;
    for (const ifRange of [etag, modified])
      expect(await ask({ range: 'bytes=5-', 'if-range': ifRange })).toMatchObject({ statusCode: 206, body: '56789' });
    expect(await ask({ 'if-none-match': etag })).toMatchObject({ statusCode: 304, body: '', headers: { etag } });
    expect(await ask({ 'if-modified-since': modified })).toMatchObject({ statusCode: 304, body: '' });
    writeFileSync(uploads(file), 'abcdefghij');
    utimesSync(uploads(file), 1_700_000_000, 1_700_000_000);
    for (const ifRange of [etag, modified])
      expect(await ask({ range: 'bytes=5-', 'if-range': ifRange })).toMatchObject({ statusCode: 200, body: 'abcdefghij' });
    expect((await ask({ 'if-none-match': etag })).statusCode).toBe(200);
    expect((await ask({ 'if-match': etag })).statusCode).toBe(412);
  });

  test('tells of itself on HEAD, with the length and without the bytes', async () => {
    const { ask } = await stored();
    expect(await ask({ range: 'bytes=2-4' }, 'HEAD')).toMatchObject({
      statusCode: 200,
      body: '',
      headers: { 'content-length': '10', 'accept-ranges': 'bytes', 'x-content-type-options': 'nosniff' },
    });
  });

  test('[U13] does not come through a link that somebody planted in its place', async () => {
    const { ask, file } = await stored();
    rmSync(uploads(file));
    expect((await ask({})).statusCode).toBe(404);
    symlinkSync('/etc/hostname', uploads(file));
    expect((await ask({})).statusCode).toBe(404);
  });

  test('is closed again when whoever fetches it leaves', async () => {
    core = await openTestCore();
    const id = await upload('a.bin', 'application/octet-stream', randomBytes(6_000_000));
    const url = await core.app.listen({ port: 0, host: '127.0.0.1' });
    const openFiles = () => readdirSync('/proc/self/fd').filter((fd) => linkOf(`/proc/self/fd/${fd}`).endsWith('a.bin')).length;
    const stop = new AbortController();
    const answer = await fetch(`${url}/v2/uploads/${id}/file`, { signal: stop.signal });
    expect(answer.status).toBe(200);
    expect(openFiles()).toBe(1);
    stop.abort();
    await vi.waitFor(() => expect(openFiles()).toBe(0));
    await core.app.inject(`/v2/uploads/${id}/file`);
    for (const headers of [{ range: 'bytes=9999999-' }, { 'if-none-match': '*' }])
      await core.app.inject({ url: `/v2/uploads/${id}/file`, headers });
    await vi.waitFor(() => expect(openFiles()).toBe(0));
  });
});

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return ''; // closed in between
  }
}
