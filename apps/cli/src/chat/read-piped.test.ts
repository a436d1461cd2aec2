import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readPiped } from './read-piped.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => void (folder = temporaryFolder()));
afterEach(() => folder.remove());

async function* inParts(...parts: (string | Buffer)[]) {
  for (const part of parts) yield Buffer.from(part);
}
const read = (...parts: (string | Buffer)[]) => readPiped(inParts(...parts), { folder: folder.path, inline: 20, most: 100 });

test('short text is passed unchanged, even when a character is split between chunks', async () => {
  const [first, second] = [Buffer.from('é').subarray(0, 1), Buffer.from('é').subarray(1)];
  expect(await read('a', first, second)).toEqual({ kind: 'text', text: 'aé' });
  expect([await read(), await read('')]).toEqual([null, null]);
});

test.each<[string, (string | Buffer)[], string, string]>([
  ['a long text', ['x'.repeat(15), 'y'.repeat(15)], 'stdin.txt', 'text/plain'],
  [
    'a long text that is cut within a sign',
    [Buffer.concat([Buffer.from('x'.repeat(20)), Buffer.from('é').subarray(0, 1)]), Buffer.from('é').subarray(1)],
    'stdin.txt',
    'text/plain',
  ],
  ['a picture', [Buffer.from('\u0089PNG\r\n', 'latin1')], 'stdin.png', 'image/png'],
  ['anything else', [Buffer.from([0, 1, 2])], 'stdin.bin', 'application/octet-stream'],
  ['what is no UTF-8', [Buffer.from([0xff, 0x61, 0x62, 0x63, 0x64])], 'stdin.bin', 'application/octet-stream'],
])('%s becomes a file named by its type, which is removed afterwards', async (_what, parts, name, mime) => {
  const piped = await read(...parts);
  if (piped?.kind !== 'file') throw new Error('no file');
  expect([piped.file.split('/').at(-1), piped.mime]).toEqual([name, mime]);
  expect(readFileSync(piped.file)).toEqual(Buffer.concat(parts.map((part) => Buffer.from(part))));
  piped.remove();
  expect(readdirSync(folder.path)).toEqual([]);
});

test('refuses input over the size limit, names the command that takes it, and leaves no file', async () => {
  await expect(read('x'.repeat(60), 'y'.repeat(60))).rejects.toMatchObject({
    message: 'the piped input is larger than 100 B.',
    run: './svc chat --file FILE "TEXT"',
  });
  expect(existsSync(folder.path) && readdirSync(folder.path)).toEqual([]);
});

test('input that neither begins nor ends is not waited for', async () => {
  const never: AsyncIterable<Buffer> = { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) };
  expect(await readPiped(never, { folder: folder.path, patienceMs: 1 })).toBeNull();
});
