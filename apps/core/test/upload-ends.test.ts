import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ManifestEntry } from '@svc/contract/upload.ts';
import { Manifest } from '../src/upload/manifest.ts';
import { openTestCore, type TestCore } from './open-test-core.ts';

const chunk = 1024;
let core: TestCore;
beforeEach(async () => {
  core = await openTestCore({ env: { SVC_UPLOAD_CHUNK_SIZE: String(chunk) } });
});
afterEach(() => core.close());

const facts = { filename: 'a.bin', mime: 'application/octet-stream' };
const uploads = () => core.context.uploads;
const lines = (): ManifestEntry[] => {
  const file = path.join(core.folder, 'uploads', 'manifest.jsonl');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as ManifestEntry);
};
const piece = (bytes: Buffer, index: number) => ({
  body: Readable.from([bytes.subarray(index * chunk, (index + 1) * chunk)]),
  length: null,
  sha256: null,
});
const begin = async (bytes: Buffer) => (await uploads().begin({ ...facts, size: bytes.length })).upload_id;
async function send(bytes: Buffer, indexes: readonly number[]): Promise<string> {
  const id = await begin(bytes);
  for (const index of indexes) await uploads().receive(id, index, piece(bytes, index));
  return id;
}

/** Delays the manifest line until it is released. */
function holdLine() {
  const reached = Promise.withResolvers<void>();
  const letGo = Promise.withResolvers<void>();
  const { append } = Manifest.prototype;
  const spy = vi.spyOn(Manifest.prototype, 'append').mockImplementationOnce(async function (this: Manifest, entry) {
    reached.resolve();
    await letGo.promise;
    return append.call(this, entry);
  });
  onTestFinished(() => spy.mockRestore());
  return { reached: reached.promise, letGo: letGo.resolve };
}

describe('a finished upload has exactly one line in the manifest', () => {
  test('when its state is read while the line is written', async () => {
    const bytes = randomBytes(2 * chunk);
    const id = await send(bytes, [0, 1]);
    const held = holdLine();
    const finished = uploads().finish(id);
    await held.reached;
    expect((await uploads().state(id)).received).toEqual([0, 1]);
    held.letGo();
    await finished;
    expect(lines().map((line) => line.id)).toEqual([id]);
    expect((await uploads().state(id)).file).toEqual(await finished);
  });

  test('when a sweep runs while the line of a single-request upload is written', async () => {
    const held = holdLine();
    const taken = uploads().take(Readable.from([randomBytes(10)]), facts);
    await held.reached;
    const swept = uploads().sweep();
    // Longer than a sweep takes that waits for nothing.
    for (let look = 0; look < 50; look++) await uploads().manifest.find('none');
    held.letGo();
    await Promise.all([taken, swept]);
    expect(lines()).toHaveLength(1);
    expect(existsSync((await taken).path)).toBe(true);
  });
});

describe('limit of concurrent uploads', () => {
  const idOf = (number: number) => `upl_${String(number).padStart(19, '0')}`;
  /** Uploads left by an earlier process: `file` is in each of their folders. */
  function leave(file: string, contentOf: (id: string) => object): void {
    for (let number = 0; number < 1000; number++) {
      const folder = path.join(core.folder, 'uploads', '.staging', idOf(number));
      mkdirSync(folder, { recursive: true });
      writeFileSync(path.join(folder, file), JSON.stringify(contentOf(idOf(number))));
    }
  }

  test('does not include finished uploads', async () => {
    leave('entry.json', (id) => ({ id, path: `2026-01-01/${id}` }));
    await uploads().sweep();
    expect((await uploads().begin({ ...facts, size: 1 })).received).toEqual([]);
  });

  test('does not include an upload that was finished after its line had failed', async () => {
    leave('plan.json', () => ({}));
    await uploads().sweep();
    const refused = { code: 'queue_full' };
    await expect(uploads().begin({ ...facts, size: 1 })).rejects.toMatchObject(refused);
    rmSync(path.join(core.folder, 'uploads', '.staging', idOf(0)), { recursive: true });
    await uploads().sweep();
    const id = await send(randomBytes(1), [0]);
    await expect(uploads().begin({ ...facts, size: 1 })).rejects.toMatchObject(refused);
    const spy = vi.spyOn(Manifest.prototype, 'append').mockRejectedValueOnce(new Error('no line'));
    onTestFinished(() => spy.mockRestore());
    await expect(uploads().finish(id)).rejects.toThrow('no line');
    await uploads().finish(id);
    expect((await uploads().begin({ ...facts, size: 1 })).received).toEqual([]);
  });
});

test('a chunk of an upload discarded in the meantime is rejected as not found', async () => {
  const bytes = randomBytes(chunk);
  const id = await begin(bytes);
  const body = new PassThrough();
  const received = uploads().receive(id, 0, { body, length: null, sha256: null });
  body.write(bytes.subarray(0, 10));
  await uploads().discard(id);
  body.end(bytes.subarray(10));
  await expect(received).rejects.toMatchObject({ code: 'not_found' });
});

describe('a failed sync to the disk', () => {
  /** The system reports a failure once: the next sync succeeds. */
  async function failSyncOnce(): Promise<void> {
    const handle = await open(import.meta.filename);
    const prototype = Object.getPrototypeOf(handle) as { sync(): Promise<void> };
    await handle.close();
    const spy = vi.spyOn(prototype, 'sync').mockRejectedValueOnce(Object.assign(new Error('EIO'), { code: 'EIO' }));
    onTestFinished(() => spy.mockRestore());
  }

  test('requires every chunk to be sent again', async () => {
    const bytes = randomBytes(2 * chunk);
    const id = await send(bytes, [0, 1]);
    await failSyncOnce();
    await expect(uploads().finish(id)).rejects.toMatchObject({ code: 'internal' });
    expect((await uploads().state(id)).received).toEqual([]);
    await expect(uploads().finish(id)).rejects.toMatchObject({ code: 'conflict' });
    for (const index of [1, 0]) await uploads().receive(id, index, piece(bytes, index));
    expect((await uploads().finish(id)).sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
  });

  test('is remembered after a restart', async () => {
    const id = await send(randomBytes(2 * chunk), [0, 1]);
    await failSyncOnce();
    await expect(uploads().finish(id)).rejects.toMatchObject({ code: 'internal' });
    core = await openTestCore({ dataDir: core.crash() });
    expect((await uploads().state(id)).received).toEqual([]);
  });
});

test('a file that could not be synced after its upload is reported in /health', async () => {
  const handle = await open(import.meta.filename);
  const prototype = Object.getPrototypeOf(handle) as { sync(): Promise<void> };
  await handle.close();
  const { sync } = prototype;
  let syncs = 0;
  const spy = vi.spyOn(prototype, 'sync').mockImplementation(function (this: { sync(): Promise<void> }) {
    // The first sync is that of the folder.
    return ++syncs === 1 ? sync.call(this) : Promise.reject(new Error('EIO'));
  });
  onTestFinished(() => spy.mockRestore());
  const { path: file } = await uploads().take(Readable.from([Buffer.alloc(33 * 2 ** 20)]), facts);
  const notices = async () => (await core.app.inject('/health')).json<{ notices: string[] }>().notices;
  await expect.poll(notices).toContainEqual(expect.stringContaining(`${file} could not be completely written to the disk (EIO)`));
});
