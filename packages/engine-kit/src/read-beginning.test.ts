import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { readBeginning, readText } from './read-beginning.ts';

const folder = temporaryFolder();
const dir = folder.path;
afterAll(() => folder.remove());
const at = (name: string) => path.join(dir, name);

test('reads up to the limit in complete characters, and reports whether that is all', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.nat(60), async (text, max) => {
      writeFileSync(at('text'), text);
      const whole = Buffer.from(text);
      const beginning = await readBeginning(at('text'), max);
      expect(beginning).toEqual({ bytes: whole.subarray(0, max), isWhole: whole.length <= max });
      const read = await readText(at('text'), max);
      // A byte order mark is not part of the text.
      expect(text.replace(/^\uFEFF/, '').startsWith(read)).toBe(true);
      if (whole.length <= max) expect(read).toBe(text.replace(/^\uFEFF/, ''));
      // The text may contain the replacement character; one that replaces half a character would exceed the limit.
      expect(Buffer.byteLength(read)).toBeLessThanOrEqual(max);
    }),
    { numRuns: 200 },
  );
});

test('rejects a pipe without a writer, a folder and a device, without blocking', async () => {
  execFileSync('mkfifo', [at('pipe')]);
  mkdirSync(at('folder'));
  symlinkSync(at('pipe'), at('link'));
  for (const place of [at('pipe'), at('link'), at('folder'), '/dev/zero', '/dev/tty']) {
    expect(['not_a_file', 'absent']).toContain(await readBeginning(place, 100));
    expect(await readText(place, 100)).toBe('');
  }
});

test('reports a missing file as absent', async () => {
  symlinkSync(at('loop'), at('loop'));
  writeFileSync(at('file'), 'x');
  const socket = createServer().listen(at('socket'));
  onTestFinished(() => void socket.close());
  await new Promise((resolve) => socket.once('listening', resolve));
  for (const place of ['nothing', 'loop', 'file/below', 'n'.repeat(300), 'socket']) {
    expect(await readBeginning(at(place), 100), place).toBe('absent');
  }
});

test('reads a file whose reported size is 0 up to the limit', async () => {
  const beginning = await readBeginning('/proc/self/status', 10);
  expect(beginning).toMatchObject({ isWhole: false, bytes: expect.objectContaining({ length: 10 }) });
});
