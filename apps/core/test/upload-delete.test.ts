import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { DeletedUpload, ManifestEntry, UploadedFile } from '@svc/contract/upload.ts';
import { says } from '@svc/testing/scripted-engine.ts';
import { envelope } from './open-test-core.ts';
import { chunkSize, openUploadBench } from './open-upload-bench.ts';

const bench = openUploadBench();
const { inUploads, lines, open, post } = bench;

type Page = { files: ManifestEntry[]; next: string | null };
const upload = async (name: string, content = name): Promise<ManifestEntry> => {
  await post('/v2/upload', { filename: name, data_base64: Buffer.from(content).toString('base64') });
  const line = lines().at(-1)!;
  return { ...line, path: inUploads(line.path) };
};
const remove = (id: string) => bench.core.app.inject({ method: 'DELETE', url: `/v2/uploads/${encodeURIComponent(id)}` });
const listed = async (query = '') => (await bench.core.app.inject(`/v2/uploads${query}`)).json<Page>();
const namesOf = ({ files }: Page) => files.map(({ name }) => name);
const download = async (id: string) => (await bench.core.app.inject(`/v2/uploads/${id}/file`)).statusCode;

describe('DELETE /v2/uploads/:id', () => {
  test('removes the file and adds a deletion line to the manifest', async () => {
    await open();
    const [a, b] = [await upload('a.txt'), await upload('b.txt')];
    const answer = await remove(a.id);
    expect(answer.statusCode, answer.body).toBe(200);
    const { file, deleted_at, kept_by_conversations } = answer.json<DeletedUpload>();
    expect([file.name, kept_by_conversations]).toEqual(['a.txt', false]);
    expect([existsSync(a.path), existsSync(b.path)]).toEqual([false, true]);
    expect(lines().map(({ id, deleted_at: at }) => [id, at])).toEqual([
      [a.id, undefined],
      [b.id, undefined],
      [a.id, deleted_at],
    ]);
    expect(namesOf(await listed())).toEqual(['b.txt']);
    expect(await download(a.id)).toBe(404);
    expect((await remove(a.id)).statusCode).toBe(404);
    expect(lines()).toHaveLength(3);
    expect(readdirSync(inUploads('.staging'))).toEqual([]);
  });

  test.each(['nothing', '../manifest.jsonl', 'upl_0000000000000000000'])('answers 404 for the unknown file %j', async (id) => {
    await open();
    await upload('a.txt');
    expect((await remove(id)).statusCode).toBe(404);
    expect(lines()).toHaveLength(1);
  });

  test('succeeds for one of several concurrent requests', async () => {
    await open();
    const { id } = await upload('a.txt');
    const answers = await Promise.all([remove(id), remove(id), remove(id)]);
    expect(answers.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b)).toEqual([200, 404, 404]);
    expect(lines()).toHaveLength(2);
  });

  test('does not break paging when the file at the cursor is deleted', async () => {
    await open();
    for (const name of ['a', 'b', 'c', 'd']) await upload(name);
    const first = await listed('?limit=2');
    expect(namesOf(first)).toEqual(['d', 'c']);
    await remove(first.next!);
    expect(namesOf(await listed(`?limit=2&before=${first.next}`))).toEqual(['b', 'a']);
  });

  test('makes a chunked upload of the file unknown, so that it cannot be finished again', async () => {
    await open();
    const bytes = Buffer.alloc(chunkSize, 'x');
    const id = await bench.begin(bytes);
    await bench.sendAll(id, bytes);
    expect((await remove(id)).statusCode).toBe(404);
    const { file } = (await bench.finish(id)).json<{ file: UploadedFile }>();
    const given = await bench.core.app.inject({ method: 'DELETE', url: `/v2/upload/${id}` });
    expect([given.statusCode, given.json<{ message: string }>().message]).toEqual([
      409,
      expect.stringContaining(`DELETE /v2/uploads/${id}`),
    ]);
    expect((await remove(id)).statusCode).toBe(200);
    expect([(await bench.finish(id)).statusCode, (await bench.core.app.inject(`/v2/upload/${id}`)).statusCode]).toEqual([
      404, 404,
    ]);
    expect(existsSync(file.path)).toBe(false);
    expect(lines()).toHaveLength(2);
  });

  test('refuses to delete something else in place of the file', async () => {
    await open();
    const { id, path: file } = await upload('a.txt');
    const outside = mkdtempSync(path.join(bench.core.folder, 'outside-'));
    writeFileSync(path.join(outside, path.basename(file)), 'mine');
    const day = path.dirname(file);
    renameSync(day, `${day}-away`);
    symlinkSync(outside, day);
    expect((await remove(id)).statusCode).toBe(409);
    expect(readFileSync(path.join(outside, path.basename(file)), 'utf8')).toBe('mine');
    expect(lines()).toHaveLength(1);
  });

  test('takes a file that was removed by hand off the list', async () => {
    await open();
    const { id, path: file } = await upload('a.txt');
    rmSync(file);
    expect((await remove(id)).statusCode).toBe(200);
    expect(namesOf(await listed())).toEqual([]);
  });
});

describe('[U10] an interrupted deletion', () => {
  const steps = ['before its line', 'after its line', 'after the file was removed'] as const;

  test.each(steps)('%s is completed by the next start', async (when) => {
    await open();
    const { id, path: file } = await upload('a.txt');
    const [line] = readFileSync(inUploads('manifest.jsonl'), 'utf8').split('\n');
    const tombstone = JSON.stringify({ ...(JSON.parse(line!) as ManifestEntry), deleted_at: 1 });
    mkdirSync(inUploads('.staging', id));
    writeFileSync(inUploads('.staging', id, 'tombstone.json'), tombstone);
    if (when !== 'before its line') writeFileSync(inUploads('manifest.jsonl'), `${tombstone}\n`, { flag: 'a' });
    if (when === 'after the file was removed') rmSync(file);
    const place = path.relative(bench.core.folder, file);

    await open({ dataDir: bench.core.crash() });
    await bench.core.context.uploads.sweep();
    expect(existsSync(path.join(bench.core.folder, place))).toBe(false);
    expect(lines().map(({ deleted_at }) => deleted_at)).toEqual([1]);
    expect(readdirSync(inUploads('.staging'))).toEqual([]);
    await bench.core.context.uploads.sweep();
    expect(lines()).toHaveLength(1);
  });

  test('is completed by the next request', async () => {
    await open();
    const { id, path: file } = await upload('a.txt');
    const { manifest } = bench.core.context.uploads;
    const { append } = manifest;
    manifest.append = () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }));
    expect((await remove(id)).statusCode).toBe(507);
    expect(await download(id)).toBe(200);
    manifest.append = append;
    expect((await remove(id)).statusCode).toBe(200);
    expect([existsSync(file), lines().length]).toEqual([false, 2]);
  });
});

describe('a turn whose attachment is deleted', () => {
  test('while it waits still runs, with the attachment marked as missing', async () => {
    await open();
    const { id, path: file } = await upload('a.txt');
    const started = Promise.withResolvers<void>();
    const letGo = Promise.withResolvers<void>();
    bench.core.engine.script(async function* () {
      started.resolve();
      await letGo.promise;
      yield* says('done');
    });
    const first = bench.core.handle(envelope('first'));
    await started.promise;
    const second = bench.core.handle(envelope('second', { content: { text: 'second', attachments: [{ path: file }] } }));
    expect((await remove(id)).statusCode).toBe(200);
    letGo.resolve();
    await Promise.all([first, second]);
    expect(bench.core.engine.requests.at(-1)?.attachments).toMatchObject([{ missing: true }]);
  });

  test('while it runs can still read it, and the answer reports that the conversation keeps it', async () => {
    await open();
    const { id, path: file } = await upload('a.txt', 'a tulip');
    let read = '';
    bench.core.engine.script(async function* ({ attachments }) {
      expect((await remove(id)).json()).toMatchObject({ ok: true, kept_by_conversations: true });
      read = readFileSync(attachments[0]!.path, 'utf8');
      yield* says('done');
    });
    await bench.core.handle(envelope('look', { content: { text: 'look', attachments: [{ path: file }] } }));
    expect([read, existsSync(file)]).toEqual(['a tulip', false]);
  });
});
