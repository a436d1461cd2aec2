import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ManifestEntry, UploadedFile } from '@svc/contract/upload.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { maintainUploads } from '../src/upload/maintain-uploads.ts';
import type { Uploads } from '../src/upload/uploads.ts';
import { chunkSize, openUploadBench } from './open-upload-bench.ts';

const bench = openUploadBench();
const { begin, finish, inUploads, lines, open, put, sendAll } = bench;

describe('upload staging folder', () => {
  const age = (id: string, hours: number) => {
    const at = new Date(Date.now() - hours * 3_600_000);
    for (const name of ['data', 'map', ''])
      if (existsSync(inUploads('.staging', id, name))) utimesSync(inUploads('.staging', id, name), at, at);
  };

  test('[U12] is swept of uploads without activity for 24 hours', async () => {
    await open();
    const [old, young] = [await begin(randomBytes(10)), await begin(randomBytes(10))];
    age(old, 25);
    age(young, 23);
    await bench.core.context.uploads.sweep();
    expect(readdirSync(inUploads('.staging'))).toEqual([young]);
    expect((await bench.core.app.inject(`/v2/upload/${old}`)).statusCode).toBe(404);
  });

  test('[U12] keeps an upload being written, however old it looks', async () => {
    await open();
    const id = await begin(randomBytes(chunkSize));
    const body = new PassThrough();
    const chunk = { body, length: null, sha256: null };
    const landing = bench.core.context.uploads.receive(id, 0, chunk);
    body.write(randomBytes(10));
    age(id, 25);
    await bench.core.context.uploads.sweep();
    body.end(randomBytes(chunkSize - 10));
    expect(await landing).toEqual({ received_count: 1, chunks: 1 });
  });

  test('is swept soon after the start and then every hour, until it is closed', async () => {
    await open();
    const clock = createFakeClock();
    let sweeps = 0;
    const end = maintainUploads({
      uploads: { sweep: async () => void sweeps++ } as Uploads,
      clock,
      log: bench.core.context.log,
    });
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
    '[U10] a finish interrupted %s is completed by the sweep',
    async (when) => {
      await open();
      const bytes = randomBytes(chunkSize);
      const id = await begin(bytes);
      await sendAll(id, bytes);
      const { file } = (await finish(id)).json<{ file: UploadedFile }>();
      const manifest = readFileSync(inUploads('manifest.jsonl'), 'utf8');
      writeFileSync(inUploads('manifest.jsonl'), '');
      if (when === 'before the file moved') {
        writeFileSync(inUploads('.staging', id, 'data'), bytes);
        rmSync(file.path);
      }
      const place = path.relative(bench.core.folder, file.path);
      await open({ dataDir: bench.core.crash() });
      await bench.core.context.uploads.sweep();
      expect(readFileSync(path.join(bench.core.folder, place))).toEqual(bytes);
      expect(readFileSync(inUploads('manifest.jsonl'), 'utf8')).toBe(manifest);
      await bench.core.context.uploads.sweep();
      expect(lines()).toHaveLength(1);
    },
  );

  test('[U13] planted links are not followed', async () => {
    await open();
    const outside = mkdtempSync(path.join(bench.core.folder, 'outside-'));
    writeFileSync(path.join(outside, 'data'), 'untouched!');
    const bytes = randomBytes(10);
    const id = await begin(bytes);
    rmSync(inUploads('.staging', id, 'data'));
    symlinkSync(path.join(outside, 'data'), inUploads('.staging', id, 'data'));
    expect((await put(id, 0, bytes)).statusCode).toBeGreaterThanOrEqual(500);
    expect(readFileSync(path.join(outside, 'data'), 'utf8')).toBe('untouched!');

    symlinkSync(outside, inUploads(new Date().toISOString().slice(0, 10)));
    const whole = await bench.core.app.inject({ method: 'POST', url: '/v2/upload?filename=a.txt', payload: 'text' });
    expect(whole.statusCode).toBeGreaterThanOrEqual(500);
    expect(readdirSync(outside)).toEqual(['data']);
  });

  test('[U14] on another file system a finish is still atomic', async ({ skip }) => {
    skip(!existsSync('/dev/shm'), 'this machine has no second file system at /dev/shm');
    const { path: other, remove } = temporaryFolder('/dev/shm');
    onTestFinished(remove);
    await open();
    mkdirSync(inUploads(), { recursive: true });
    symlinkSync(other, inUploads('.staging'));
    const bytes = randomBytes(3 * chunkSize);
    const id = await begin(bytes);
    await sendAll(id, bytes);
    const { file } = (await finish(id)).json<{ file: UploadedFile }>();
    expect(readFileSync(file.path)).toEqual(bytes);
    expect(readdirSync(path.dirname(file.path))).toHaveLength(1);
  });

  test('[U14] a torn last line of the manifest is skipped, and the next line is intact', async () => {
    await open();
    await bench.core.app.inject({ method: 'POST', url: '/v2/upload?filename=a.txt', payload: 'one' });
    writeFileSync(inUploads('manifest.jsonl'), '{"id":"upl_', { flag: 'a' });
    await bench.core.app.inject({ method: 'POST', url: '/v2/upload?filename=b.txt', payload: 'two' });
    const { files } = (await bench.core.app.inject('/v2/uploads')).json<{ files: ManifestEntry[] }>();
    expect(files.map(({ name }) => name)).toEqual(['b.txt', 'a.txt']);
  });
});
