import { beforeEach, expect, test } from 'vitest';
import type { Envelope } from '@svc/contract/envelope.ts';
import { createAttachFiles, type FetchFile } from './attach-files.ts';
import type { FilePart } from './file-parts.ts';

const envelope: Envelope = {
  channel: 'compat',
  conversation_key: 'compat:i:1',
  sender: { raw_id: 'ann' },
  content: { text: 'x' },
};
const png = Buffer.from('89504e470d0a1a0a0000000d4948445200000001000000010806000000', 'hex');
const part = (source: FilePart['source'], name = 'image-1'): FilePart => ({
  kind: 'image',
  source,
  name,
  filename: null,
  mime: null,
  at: 'messages[0]',
});
const data = (bytes: Buffer) => part({ base64: bytes.toString('base64') });

let saved: string[];
let gates: (() => void)[];
const open = (fetchFile: FetchFile = async () => png) =>
  createAttachFiles({
    core: { resolve: async () => ({ denied: false }) as never },
    uploads: {
      async save({ name, mime = '' }) {
        await new Promise<void>((resolve) => gates.push(resolve));
        saved.push(name);
        return { id: `upl_${name}`, path: `/u/${name}`, name, mime, kind: 'image', bytes: 1, sha256: '' };
      },
    },
    fetchFile,
    signal: new AbortController().signal,
  });
beforeEach(() => {
  saved = [];
  gates = [];
});
/** Lets everything through until nothing is left. */
const drain = async (until: Promise<unknown>) => {
  let isOver = false;
  void until.finally(() => (isOver = true)).catch(() => undefined);
  while (!isOver) {
    gates.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
};

test('names a fetched file by its detected type', async () => {
  const asked: string[] = [];
  const attach = open(async (url) => (asked.push(url), png));
  const done = attach(envelope, [part({ url: 'https://example.com/cat.svg' })]);
  await drain(done);
  expect((await done).content.attachments).toEqual([
    { path: '/u/image-1.png', name: 'image-1.png', mime: 'image/png', bytes: 1 },
  ]);
  expect(asked).toEqual(['https://example.com/cat.svg']);
});

test('stores files of four requests at a time, and of all in the end', async () => {
  const attach = open();
  const all = Promise.all(Array.from({ length: 40 }, () => attach(envelope, [data(png)])));
  await new Promise((resolve) => setImmediate(resolve));
  expect(gates.length).toBeLessThanOrEqual(4);
  await drain(all);
  expect(saved).toHaveLength(40);
});

test('rejects requests over the limit, and accepts them again later', async () => {
  const attach = open();
  const all = Array.from({ length: 4 + 64 }, () => attach(envelope, [data(png)]));
  await expect(attach(envelope, [data(png)])).rejects.toMatchObject({ code: 'queue_full' });
  await drain(Promise.all(all));
  const after = attach(envelope, [data(png)]);
  await drain(after);
  await after;
  expect(saved).toHaveLength(4 + 64 + 1);
});

test('bounds the memory of waiting files', async () => {
  const attach = open();
  const large = part({ base64: 'A'.repeat(33 * 1024 * 1024) });
  const first = attach(envelope, [large]);
  await expect(attach(envelope, [large])).rejects.toMatchObject({ code: 'queue_full' });
  await expect(first).rejects.toMatchObject({ details: { code: 'too_large' } });
});

test('a failed request releases its slot', async () => {
  const attach = open(() => Promise.reject(new Error('a fault')));
  for (let i = 0; i < 10; i++) await expect(attach(envelope, [part({ url: 'https://x.example/' })])).rejects.toThrow('a fault');
});
