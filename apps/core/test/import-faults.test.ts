import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTestCore, type TestCore } from './open-test-core.ts';

let core: TestCore;
beforeEach(async () => {
  core = await openTestCore();
});
afterEach(() => core.close());

const take = (body: Readable) => core.context.imports.take(body, null);
const nonsense = () => Readable.from([Buffer.from('no backup')]);

test('an import that failed for lack of a work folder does not block the next one', async () => {
  const folder = path.join(core.folder, 'restore');
  rmSync(folder, { recursive: true, force: true });
  writeFileSync(folder, 'in the way');
  await expect(take(nonsense())).rejects.toMatchObject({ code: 'EEXIST' });
  rmSync(folder);
  await expect(take(nonsense())).rejects.toMatchObject({ code: 'unprocessable' });
});

test('a second concurrent import is rejected, and its body discarded at once', async () => {
  const first = new PassThrough();
  const taken = take(first);
  const second = nonsense();
  await expect(take(second)).rejects.toMatchObject({ code: 'conflict' });
  expect(second.destroyed).toBe(true);
  first.end('no backup');
  await expect(taken).rejects.toMatchObject({ code: 'unprocessable' });
});
