import { mkdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { PassThrough, Readable } from 'node:stream';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { ChunkedUpload } from './chunked-upload.ts';
import { Staging } from './staging.ts';

const id = `upl_${'0'.repeat(19)}`;
const bytes = Buffer.from('abcdef');
const facts = { name: 'a', mime: 'text/plain', sha256: null, conversation_key: null, created_at: 0 };

let staging: Staging;
let upload: ChunkedUpload;
beforeEach(async () => {
  const area = temporaryFolder();
  onTestFinished(area.remove);
  staging = new Staging(area.path);
  mkdirSync(staging.folder);
  await staging.plan(id, { ...facts, size: 6, chunk_size: 3, chunks: 2 });
  const staged = await staging.read(id);
  if (staged !== null) upload = new ChunkedUpload(id, staged, staging, { maxChunk: 1000, whileOpen: (work) => work() });
});

const send = (index: number, body: Readable = Readable.from([bytes.subarray(index * 3, index * 3 + 3)])) =>
  upload.receive(index, { body, length: null, sha256: null });

/** The system reports a failure once: the next call succeeds. */
async function failSyncOnce(): Promise<void> {
  const handle = await open(import.meta.filename);
  const prototype = Object.getPrototypeOf(handle) as { sync(): Promise<void> };
  await handle.close();
  const spy = vi.spyOn(prototype, 'sync').mockRejectedValueOnce(new Error('EIO'));
  onTestFinished(() => spy.mockRestore());
}

test('syncAll() does not trust a later success after a sync has failed', async () => {
  await Promise.all([send(0), send(1)]);
  await failSyncOnce();
  await expect(upload.sync()).rejects.toThrow('EIO');
  await expect(upload.syncAll()).rejects.toThrow('EIO');
});

test('a chunk received during a failed sync is not counted, as its beginning may be lost', async () => {
  await send(0);
  const body = new PassThrough();
  const received = send(1, body);
  body.write(bytes.subarray(3, 4));
  await failSyncOnce();
  await expect(upload.sync()).rejects.toThrow('EIO');
  body.end(bytes.subarray(4));
  await expect(received).rejects.toThrow('EIO');
  expect(upload.state().received).toEqual([]);
  expect((await staging.read(id))?.map.every((landed) => landed === 0)).toBe(true);
});

test('chunks sent again after a failed sync give the digest of an intact file', async () => {
  await Promise.all([send(0), send(1)]);
  const digest = await upload.digest();
  await failSyncOnce();
  await expect(upload.sync()).rejects.toThrow('EIO');
  await Promise.all([send(1), send(0)]);
  await upload.syncAll();
  expect(await upload.digest()).toBe(digest);
});
