import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { randomIds } from '@svc/service-kit/ids.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, test } from 'vitest';
import { Uploads } from './uploads.ts';

const mib = 1024 * 1024;
const openUploads = (uploads: string) =>
  new Uploads({
    uploads,
    settings: { uploadChunkBytes: mib, uploadMaxChunkBytes: mib, uploadMaxBytes: mib, rawBodyBytes: mib },
    clock: createFakeClock(),
    ids: randomIds,
    log: { warn: () => undefined, error: () => undefined },
    mask: { text: (text) => text },
  });

const step = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ do: 'upload' as const }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), of: fc.nat(5), fails: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ do: 'restart' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'sweep' as const }) },
);

test('after random failures and restarts a file is both stored and listed, or neither', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const folder = temporaryFolder();
      let uploads = openUploads(folder.path);
      const ids: string[] = [];
      const deleted = new Set<string>();
      /** Deletions that have begun and not finished. */
      const pending = new Set<string>();
      try {
        for (const each of steps) {
          if (each.do === 'upload') {
            await uploads.take(Readable.from([Buffer.from(`file ${ids.length}`)]), { filename: 'a.txt' });
            ids.push((await uploads.manifest.page(null, 1))[0]!.id);
          } else if (each.do === 'delete') {
            const id = ids[each.of];
            if (id === undefined) continue;
            const { manifest } = uploads;
            const { append } = manifest;
            if (each.fails) manifest.append = () => Promise.reject(new Error('the disk is away'));
            const isGone = deleted.has(id);
            const done = await uploads.delete(id).then(
              () => true,
              () => false,
            );
            manifest.append = append;
            expect(done).toBe(!isGone && !each.fails);
            // A deletion that has begun is finished by the next caller, even after an error.
            if (done) deleted.add(id);
            if (done) pending.delete(id);
            else if (!isGone) pending.add(id);
          } else if (each.do === 'restart') uploads = openUploads(folder.path);
          else {
            await uploads.sweep();
            for (const id of pending) deleted.add(id);
            pending.clear();
          }
        }
        uploads = openUploads(folder.path);
        await uploads.sweep();
        for (const id of pending) deleted.add(id);
        const listed = await uploads.manifest.page(null, 100);
        expect(listed.map(({ id }) => id)).toEqual(ids.filter((id) => !deleted.has(id)).toReversed());
        for (const { path: file, id } of listed) expect(readFileSync(file, 'utf8')).toBe(`file ${ids.indexOf(id)}`);
        const files = readdirSync(folder.path, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('a.txt'));
        expect(files).toHaveLength(listed.length);
        expect(existsSync(path.join(folder.path, '.staging')) ? readdirSync(path.join(folder.path, '.staging')) : []).toEqual([]);
      } finally {
        folder.remove();
      }
    }),
    { numRuns: 40 },
  );
});
