import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, afterAll, describe, expect, test } from 'vitest';
import type { ManifestEntry, UploadState, UploadedFile } from '@svc/contract/upload.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { oneThread, whyNoFaults, withFault } from '@svc/testing/inject-fault.ts';
import { skipNote } from '@svc/testing/skip-note.ts';
import { startCore, type HostPorts } from '@svc/testing/spawn-core.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { usualOrDeep } from '@svc/testing/usual-or-deep.ts';

const chunk = 64 * 1024;
const why = whyNoFaults();
const folder = temporaryFolder();
const uploads = path.join(folder.path, 'uploads');
const env = { SVC_UPLOAD_CHUNK_SIZE: String(chunk), ...oneThread };

let ports: HostPorts;
let core: Awaited<ReturnType<typeof startCore>>;
const pid = () => core.child.pid ?? 0;
const url = (rest: string) => `http://127.0.0.1:${ports.core}${rest}`;

beforeAll(async () => {
  const [one, two, three] = (await freePorts(3)) as [number, number, number];
  ports = { core: one, manager: two, collector: three };
  core = await startCore(folder.path, ports, env);
});
afterAll(async () => {
  core.child.kill('SIGKILL');
  await core.exited;
  folder.remove();
});

type Answer = { status: number; error?: string; message?: string; file?: UploadedFile; upload_id?: string };

async function ask(method: string, rest: string, body?: Buffer | object): Promise<Answer> {
  const isRaw = Buffer.isBuffer(body);
  const headers = { 'content-type': isRaw ? 'application/octet-stream' : 'application/json' };
  const payload = isRaw ? new Uint8Array(body) : JSON.stringify(body);
  const answer = await fetch(url(rest), { method, ...(body === undefined ? {} : { body: payload, headers }) });
  return { status: answer.status, ...((await answer.json()) as object) };
}

const begin = (bytes: Buffer) =>
  ask('POST', '/v2/upload/init', { filename: 'a.bin', mime: 'application/octet-stream', size: bytes.length });
const put = (id: string, index: number, bytes: Buffer) =>
  ask('PUT', `/v2/upload/${id}/${index}`, bytes.subarray(index * chunk, (index + 1) * chunk));
const finish = (id: string) => ask('POST', `/v2/upload/${id}/finish`, {});
const sendRaw = (bytes: Buffer) => ask('POST', '/v2/upload?filename=a.bin', bytes);

const linesOf = (id: string): ManifestEntry[] => entries().filter((entry) => entry.id === id);
function entries(): ManifestEntry[] {
  const file = path.join(uploads, 'manifest.jsonl');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  return lines.filter(Boolean).map((line) => JSON.parse(line) as ManifestEntry);
}
const filesInArea = (): string[] =>
  readdirSync(uploads, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('.staging') && entry.name !== 'manifest.jsonl')
    .map((entry) => path.relative(uploads, path.join(entry.parentPath, entry.name)));

/** Every line of the manifest has its file, complete, and every file its line. */
function expectWhole(): void {
  expect(filesInArea().toSorted()).toEqual(
    entries()
      .map((entry) => entry.path)
      .toSorted(),
  );
  for (const entry of entries()) {
    const bytes = readFileSync(path.join(uploads, entry.path));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(entry.sha256);
  }
}

function expectClear(answer: Answer, error: 'ENOSPC' | 'EIO'): void {
  expect(answer).toMatchObject(
    error === 'ENOSPC' ? { status: 507, error: 'insufficient_storage' } : { status: 500, error: 'internal' },
  );
  expect(answer.message).toMatch(error === 'ENOSPC' ? /no room left on the disk/ : /disk cannot be written to \(EIO\)/);
}

/** The files and folders that an upload in chunks writes. */
function placesOf(id: string) {
  const staged = (name: string) => path.join(uploads, '.staging', id, name);
  const day = path.join(uploads, new Date().toISOString().slice(0, 10));
  const decision = `${staged('entry.json')}.${pid()}.tmp`;
  const manifest = path.join(uploads, 'manifest.jsonl');
  return { data: staged('data'), map: staged('map'), day, decision, manifest };
}

const steps = [
  ['the bytes of a chunk', 'pwritev', 'data'],
  ['the opening of the file for a chunk', 'openat', 'data'],
  ['the mark of a chunk', 'pwrite64', 'map'],
  ['the opening of the map', 'openat', 'map'],
  ['the writing out of the file', 'fsync', 'data'],
  ['the making of the decision', 'openat', 'decision'],
  ['the bytes of the decision', 'write', 'decision'],
  ['the name of the decision', 'rename', 'decision'],
  ['the move of the file', 'rename', 'data'],
  ['the writing out of its folder', 'fsync', 'day'],
  ['the opening of the manifest', 'openat', 'manifest'],
  ['the line of the manifest', 'write', 'manifest'],
  ['the writing out of the manifest', 'fdatasync', 'manifest'],
] as const;

const firstOfEnd = steps.findIndex(([, call, place]) => call === 'fsync' && place === 'data');
/** A kill before one of these leaves the same state on the disk as a kill before the next step. */
const changesNothing = new Set<string>([
  'the writing out of the file',
  'the writing out of its folder',
  'the opening of the manifest',
]);
const kills = steps.slice(firstOfEnd).filter(([name]) => usualOrDeep(!changesNothing.has(name), true));

describe.skipIf(why !== null)(`[U11] a disk that fails${skipNote(why)}`, () => {
  describe.each(['ENOSPC', 'EIO'] as const)('with %s', (error) => {
    // Node reports an EIO of mkdir as a folder that does not exist.
    const folders = error === 'EIO' ? [] : ['mkdir'];
    test.each(steps)('at %s: a clear error, no partial result, and the upload can be completed', async (_name, call, place) => {
      const bytes = randomBytes(2 * chunk + 100);
      const { upload_id: id = '' } = await begin(bytes);
      expect((await put(id, 0, bytes)).status).toBe(200);
      const fault = { call, error, when: '1+', files: [placesOf(id)[place]] };
      const { result, injected } = await withFault(pid(), fault, async () => {
        const answers = [await put(id, 2, bytes), await put(id, 1, bytes), await finish(id)];
        return { answers, lines: linesOf(id) };
      });
      expect(injected).toBeGreaterThan(0);
      const failed = result.answers.find((answer) => answer.status !== 200);
      expectClear(failed ?? { status: 200 }, error);
      expect(result.answers.at(-1)?.status).not.toBe(200);
      expect(result.lines).toEqual([]);

      const { received } = (await (await fetch(url(`/v2/upload/${id}`))).json()) as UploadState;
      // After a failed fsync every chunk is sent again, even if it can be read.
      if (call === 'fsync' && place === 'data') expect(received).toEqual([]);
      else expect(received).toContain(0);
      for (const index of [0, 1, 2]) if (!received.includes(index)) await put(id, index, bytes);
      const last = await finish(id);
      expect(last).toMatchObject({ status: 200, file: { sha256: createHash('sha256').update(bytes).digest('hex') } });
      expect(readFileSync(last.file?.path ?? '').equals(bytes)).toBe(true);
      expect(linesOf(id)).toHaveLength(1);
      expectWhole();
    });

    test.each([...folders, 'ftruncate', 'rename'])('at any %s of upload init: a clear error, no upload left', async (call) => {
      const staged = () => readdirSync(path.join(uploads, '.staging')).toSorted();
      const before = staged();
      let others = 0;
      for (let when = 1; when < 20; when++) {
        const fault = { call, error, when: String(when), files: [] };
        const { result, injected } = await withFault(pid(), fault, () => begin(randomBytes(10)));
        const isBegun = result.status === 200;
        if (isBegun) expect((await ask('DELETE', `/v2/upload/${result.upload_id}`)).status).toBe(200);
        if (injected === 0) return expect(when).toBeGreaterThan(1);
        if (isBegun && others++ < 2) when--; // the fault met a call of other work in the same process
        else expectClear(result, error);
        expect(staged()).toEqual(before);
      }
      expect.unreachable('a beginning makes no 20 such calls');
    });

    test.each([...folders, 'pwritev', 'fsync', 'rename', 'fdatasync'])(
      'at any %s of a file sent in one request: a clear error, and nothing is left of it',
      async (call) => {
        const bytes = randomBytes(chunk);
        let others = 0;
        for (let when = 1; when < 20; when++) {
          const [before, fault] = [entries().length, { call, error, when: String(when), files: [] }];
          const { result, injected } = await withFault(pid(), fault, () => sendRaw(bytes));
          if (injected === 0) {
            expect(result.status).toBe(200);
            return expect(when).toBeGreaterThan(1);
          }
          expectWhole();
          // The fault met a call of other work in the same process.
          if (result.status === 200 && others++ < 2) {
            when--;
            continue;
          }
          expectClear(result, error);
          expect(entries()).toHaveLength(before);
        }
        expect.unreachable('a file in one piece makes no 20 such calls');
      },
    );
  });

  test.each(kills)(
    '[U10] kill -9 before %s: every manifest line has its file, and finishing can be repeated',
    async (_name, call, place) => {
      const bytes = randomBytes(2 * chunk);
      const { upload_id: id = '' } = await begin(bytes);
      for (const index of [0, 1]) await put(id, index, bytes);
      const fault = { call, error: 'SIGKILL', when: '1', files: [placesOf(id)[place]] } as const;
      const { result } = await withFault(pid(), fault, () => finish(id).catch(() => null));
      expect(result).toBeNull();
      await core.exited;
      for (const entry of entries()) expect(existsSync(path.join(uploads, entry.path))).toBe(true);
      core = await startCore(folder.path, ports, env);
      expect(await finish(id)).toMatchObject({ status: 200, file: { bytes: bytes.length } });
      expect(linesOf(id)).toHaveLength(1);
      expectWhole();
    },
  );

  test('after another restart every manifest line has its file, and every file its line', async () => {
    core.child.kill('SIGKILL');
    await core.exited;
    core = await startCore(folder.path, ports, env);
    expect((await sendRaw(randomBytes(10))).status).toBe(200);
    expectWhole();
  });
});
