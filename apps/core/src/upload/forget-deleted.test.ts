import { appendFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ManifestEntry } from '@svc/contract/upload.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Manifest } from './manifest.ts';

let folder: TemporaryFolder;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = path.join(folder.path, 'manifest.jsonl');
});
afterEach(() => folder.remove());

const entry = (id: string, over: Partial<ManifestEntry> = {}): ManifestEntry => ({
  id,
  path: path.join(folder.path, '2026-01-01', `${id}-secret name.txt`),
  name: 'secret name.txt',
  mime: 'text/plain',
  kind: 'text',
  bytes: 1,
  sha256: 'x',
  conversation_key: 'compat:c1:secret',
  created_at: 1,
  ...over,
});
const ids = async (manifest: Manifest, before: string | null = null) => (await manifest.page(before, 100)).map(({ id }) => id);
const text = () => readFileSync(file, 'utf8');

test('forgetDeleted() erases names, keeps files deleted, and keeps paging past them', async () => {
  const manifest = new Manifest(folder.path);
  for (const id of ['a', 'b', 'c'])
    await manifest.append(entry(id, id === 'b' ? {} : { name: id, path: path.join(folder.path, id) }));
  await manifest.append(entry('b', { deleted_at: 7 }));
  await manifest.forgetDeleted();
  expect(text()).not.toContain('secret name');
  expect(await ids(manifest)).toEqual(['c', 'a']);
  expect(await ids(manifest, 'b')).toEqual(['a']);
  expect([await manifest.isDeleted('b'), await manifest.find('b'), await manifest.isDeleted('a')]).toEqual([true, null, false]);
  const once = text();
  await manifest.forgetDeleted();
  expect(text()).toBe(once);
});

test('forgetDeleted() keeps a live entry whose conversation contains a line separator', async () => {
  const manifest = new Manifest(folder.path);
  const live = entry('a', { conversation_key: 'compat:c1:one\u2028two' });
  await manifest.append(live);
  await manifest.append(entry('b'));
  await manifest.append(entry('b', { deleted_at: 7 }));
  await manifest.forgetDeleted();
  expect(await new Manifest(folder.path).find('a')).toEqual(live);
});

test('forgetDeleted() keeps all live entries unchanged and in order, in random histories', async () => {
  const step = fc.record({
    id: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    what: fc.constantFrom('add', 'delete', 'forget', 'tear'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      writeFileSync(file, '');
      const manifest = new Manifest(folder.path);
      const live = new Map<string, ManifestEntry>();
      const known = new Set<string>();
      for (const { id, what } of steps) {
        if (what === 'forget') await manifest.forgetDeleted();
        else if (what === 'tear') appendFileSync(file, '{"id":"secret na');
        else if (what === 'add' && !known.has(id)) {
          const added = entry(id, { bytes: known.size });
          live.set(id, added);
          known.add(id);
          await manifest.append(added);
        } else if (what === 'delete' && live.delete(id)) await manifest.append(entry(id, { deleted_at: 1 }));
      }
      await manifest.forgetDeleted();
      const again = new Manifest(folder.path);
      expect(await again.page(null, 100)).toEqual([...live.values()].toReversed());
      for (const id of known) expect([id, await again.isDeleted(id)]).toEqual([id, !live.has(id)]);
      if (live.size === 0 && known.size > 0) expect(text()).not.toContain('secret name');
    }),
    { numRuns: 60 },
  );
});

test('an entry appended during forgetDeleted() is kept', async () => {
  const manifest = new Manifest(folder.path);
  await manifest.append(entry('a'));
  await manifest.append(entry('a', { deleted_at: 1 }));
  await Promise.all([manifest.forgetDeleted(), manifest.append(entry('b')), manifest.forgetDeleted()]);
  expect(await ids(new Manifest(folder.path))).toEqual(['b']);
});

test('a leftover of an interrupted attempt is overwritten, and a symlink in its place is not followed', async () => {
  const manifest = new Manifest(folder.path);
  await manifest.append(entry('a'));
  await manifest.append(entry('a', { deleted_at: 1 }));
  const target = path.join(folder.path, 'target');
  writeFileSync(target, 'mine');
  symlinkSync(target, path.join(folder.path, '.manifest.part'));
  await manifest.forgetDeleted();
  expect([readFileSync(target, 'utf8'), await manifest.isDeleted('a')]).toEqual(['mine', true]);
});

test('a failed attempt leaves the list unchanged', async () => {
  const manifest = new Manifest(folder.path);
  await manifest.append(entry('a'));
  await manifest.append(entry('a', { deleted_at: 1 }));
  const before = text();
  mkdirSync(path.join(folder.path, '.manifest.part', 'x'), { recursive: true });
  await expect(manifest.forgetDeleted()).rejects.toThrow();
  expect([text(), existsSync(file)]).toEqual([before, true]);
  await manifest.append(entry('b'));
  expect(await ids(manifest)).toEqual(['b']);
});
