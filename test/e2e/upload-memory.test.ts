import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { http } from '@svc/service-kit/builtin.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { startCore } from '@svc/testing/spawn-core.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import type { UploadState } from '@svc/contract/upload.ts';

const mebibyte = 1024 * 1024;
const chunkBytes = 8 * mebibyte;
const chunks = 32;

/** The memory of a process in MiB: now, and at its peak. */
function memoryOf(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const read = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
  return { now: read('VmRSS'), peak: read('VmHWM') };
}

const put = (port: number, path: string, body: Buffer) =>
  new Promise<number | undefined>((resolve, reject) => {
    const headers = { 'content-type': 'application/octet-stream', 'content-length': body.length };
    const request = http.request({ port, path, method: 'PUT', headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    });
    request.on('error', reject).end(body);
  });

test('an upload of 256 MiB over four connections adds less than 40 MiB of memory', async ({ skip }) => {
  skip(!existsSync('/proc/self/status'), 'this system does not tell what a process takes at most');
  const folder = temporaryFolder();
  const [port, manager, collector] = (await freePorts(3)) as [number, number, number];
  const core = await startCore(folder.path, { core: port, manager, collector });
  onTestFinished(async () => {
    core.child.kill('SIGKILL');
    await core.exited;
    folder.remove();
  });
  const begin = async () => {
    const body = JSON.stringify({ filename: 'a.bin', mime: 'application/octet-stream', size: chunks * chunkBytes });
    const headers = { 'content-type': 'application/json' };
    return (await (
      await fetch(`http://127.0.0.1:${port}/v2/upload/init`, { method: 'POST', headers, body })
    ).json()) as UploadState;
  };
  const { upload_id: id } = await begin();
  const bytes = randomBytes(chunkBytes);
  const before = memoryOf(core.child.pid ?? 0).now;
  const left = [...Array(chunks).keys()];
  const send = async () => {
    for (let index = left.shift(); index !== undefined; index = left.shift())
      expect(await put(port, `/v2/upload/${id}/${index}`, bytes)).toBe(200);
  };
  await Promise.all([send(), send(), send(), send()]);
  const ended = await fetch(`http://127.0.0.1:${port}/v2/upload/${id}/finish`, { method: 'POST' });
  expect(ended.status).toBe(200);
  expect(memoryOf(core.child.pid ?? 0).peak - before).toBeLessThan(40);
});
