import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createFileTickets } from '@svc/connector-kit/open-file.ts';
import { createUploads } from '@svc/connector-kit/uploads.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestCore, type TestCore } from './open-test-core.ts';

let core: TestCore;
let coreUrl: string;
const shutdown = new AbortController();

beforeAll(async () => {
  const env = { SVC_CORE_TOKEN: 'a-token-of-the-core-0123456789', SVC_UPLOAD_CHUNK_SIZE: '1024' };
  core = await openTestCore({ env });
  coreUrl = await core.app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => core.close());

const uploadsOf = (instanceId: string, pass = core.context.connectorPasses.issue({ type: 'device', instanceId }).reveal()) =>
  createUploads({ coreUrl, pass, tickets: createFileTickets(), clock: systemClock, signal: shutdown.signal }).chunked;
const sha = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const parts = async function* (bytes: Buffer) {
  yield bytes;
};

test('a connector uploads a file for its own conversation in chunks, in any order and with repeats', async () => {
  const uploads = uploadsOf('a');
  const bytes = randomBytes(2500);
  const conversation_key = 'device:a:device:d_1';
  const begun = await uploads.begin({
    name: 'film.bin',
    mime: 'video/mp4',
    size: bytes.length,
    sha256: sha(bytes),
    conversation_key,
  });
  expect(begun).toMatchObject({ chunk_size: 1024, chunks: 3, received: [] });
  const place = { upload_id: begun.upload_id, conversation_key };
  const put = (index: number, sha256?: string) =>
    uploads.put({ ...place, index, sha256 }, parts(bytes.subarray(index * 1024, (index + 1) * 1024)));
  await expect(put(0, sha(bytes))).rejects.toMatchObject({ code: 'unprocessable' });
  for (const index of [2, 0, 0]) await put(index);
  expect((await uploads.state(place)).received).toEqual([0, 2]);
  await expect(uploads.finish(place)).rejects.toMatchObject({ code: 'conflict' });
  expect(await put(1)).toEqual({ received_count: 3, chunks: 3 });
  const file = await uploads.finish(place);
  expect(readFileSync(file.path)).toEqual(bytes);
  expect(await uploads.finish(place)).toEqual(file);
});

test('an upload of another instance or conversation is reported as not found', async () => {
  const conversation_key = 'device:a:device:d_1';
  const { upload_id } = await uploadsOf('a').begin({ name: 'x', mime: 'text/plain', size: 3, conversation_key });
  const others = [
    [uploadsOf('b'), conversation_key],
    [uploadsOf('b'), 'device:b:device:d_1'],
    [uploadsOf('a'), 'device:a:device:d_2'],
  ] as const;
  for (const [uploads, key] of others) {
    const place = { upload_id, conversation_key: key };
    for (const call of [
      () => uploads.state(place),
      () => uploads.put({ ...place, index: 0 }, parts(Buffer.from('abc'))),
      () => uploads.finish(place),
      () => uploads.discard(place),
    ])
      await expect(call()).rejects.toMatchObject({ code: 'not_found' });
  }
  await expect(uploadsOf('b').begin({ name: 'x', mime: 'text/plain', size: 3, conversation_key })).rejects.toMatchObject({
    code: 'forbidden',
  });
  await expect(uploadsOf('a', 'no-pass').state({ upload_id, conversation_key })).rejects.toMatchObject({ code: 'unauthorized' });
  expect(await uploadsOf('a').state({ upload_id, conversation_key })).toMatchObject({ received: [] });
});
