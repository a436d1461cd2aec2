import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect } from 'vitest';
import type { ManifestEntry, UploadState } from '@svc/contract/upload.ts';
import { openTestCore, type TestCore } from './open-test-core.ts';

export const chunkSize = 1024;
const smallLimits = {
  SVC_UPLOAD_CHUNK_SIZE: String(chunkSize),
  SVC_UPLOAD_MAX_CHUNK: '4kb',
  SVC_UPLOAD_MAX_SIZE: '1mb',
  SVC_RAW_BODY_LIMIT: '100kb',
};

export const sha = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
export const chunkOf = (bytes: Buffer, index: number) => bytes.subarray(index * chunkSize, (index + 1) * chunkSize);

/** What one does with uploads over HTTP, for the tests of one file. Each opens its core, with small limits unless it gives others. */
export function openUploadBench() {
  let core: TestCore;
  afterEach(() => core.close());

  const inUploads = (...parts: string[]) => path.join(core.folder, 'uploads', ...parts);
  const post = (url: string, payload?: object) => core.app.inject({ method: 'POST', url, payload });
  const put = (id: string, index: number | string, payload: Buffer, headers: Record<string, string> = {}) =>
    core.app.inject({
      method: 'PUT',
      url: `/v2/upload/${id}/${index}`,
      payload,
      headers: { 'content-type': 'application/octet-stream', ...headers },
    });

  return {
    get core() {
      return core;
    },
    async open(options: { env?: Record<string, string>; dataDir?: string } = {}): Promise<void> {
      core = await openTestCore({ env: smallLimits, ...options });
    },
    inUploads,
    post,
    put,
    async begin(bytes: Buffer, more: object = {}): Promise<string> {
      const facts = { filename: 'a.bin', mime: 'application/octet-stream', size: bytes.length, ...more };
      const answer = await post('/v2/upload/init', facts);
      expect(answer.statusCode, answer.body).toBe(200);
      return answer.json<UploadState>().upload_id;
    },
    async sendAll(id: string, bytes: Buffer): Promise<void> {
      for (let index = 0; index * chunkSize < bytes.length; index++)
        expect((await put(id, index, chunkOf(bytes, index))).statusCode).toBe(200);
    },
    finish: (id: string, body: object = {}) => post(`/v2/upload/${id}/finish`, body),
    state: async (id: string) => (await core.app.inject(`/v2/upload/${id}`)).json<UploadState>(),
    /** The whole lines of the manifest. */
    lines(): ManifestEntry[] {
      const file = inUploads('manifest.jsonl');
      if (!existsSync(file)) return [];
      const lines = readFileSync(file, 'utf8').split('\n');
      return lines.filter((line) => line.startsWith('{') && line.endsWith('}')).map((line) => JSON.parse(line) as ManifestEntry);
    },
  };
}
