import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { http, type ServerResponse } from '@svc/service-kit/builtin.ts';
import { listen } from '@svc/testing/listen.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { createOpenFile } from './open-file.ts';

const { signal } = new AbortController();
const token = '1:the-token-that-is-in-the-address';

async function read(open: ReturnType<typeof createOpenFile>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of await open('id', signal)) parts.push(part);
  return Buffer.concat(parts).toString();
}

const opening = (file_path: string | undefined, { filesDir = '', root = 'http://127.0.0.1:1' } = {}) =>
  createOpenFile({
    api: { ask: async () => ({ file_path }) as never, fileAddress: (place) => new URL(`${root}/file/bot${token}/${place}`) },
    filesDir,
  });

test('opens files within the folder of a local Bot API server only', async () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const filesDir = path.join(folder.path, 'bot-files');
  mkdirSync(path.join(filesDir, 'sub'), { recursive: true });
  writeFileSync(path.join(filesDir, 'sub/a'), 'its file');
  writeFileSync(path.join(folder.path, 'keys'), 'another');
  writeFileSync(`${filesDir}-other`, 'a neighbour');
  symlinkSync(path.join(folder.path, 'keys'), path.join(filesDir, 'link'));
  expect(await read(opening(`${filesDir}/sub/a`, { filesDir }))).toBe('its file');
  for (const place of [
    '/etc/passwd',
    `${filesDir}/../keys`,
    `${filesDir}/link`,
    `${filesDir}-other`,
    `${filesDir}/sub`,
    filesDir,
  ])
    await expect(read(opening(place, { filesDir }))).rejects.toMatchObject({ code: 'unprocessable' });
  await expect(read(opening(`${filesDir}/sub/gone`, { filesDir }))).rejects.toThrow('cannot be read');
  await expect(read(opening(`${filesDir}/sub/a`))).rejects.toThrow('set api_files_dir to that folder');
  await expect(read(opening(undefined))).rejects.toMatchObject({ code: 'unprocessable' });
});

test('an interrupted download can be retried, a refused one not, and errors omit the token', async () => {
  const answers: ((response: ServerResponse) => void)[] = [
    (response) => void response.writeHead(200, { 'content-length': 100 }).write('part', () => response.destroy()),
    (response) => void response.destroy(),
    (response) => void response.writeHead(502).end(),
    (response) => void response.writeHead(404).end(),
    (response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    (response) => void response.end('whole'),
  ];
  const server = await listen(http.createServer((_, response) => answers.shift()?.(response)));
  onTestFinished(() => server.close());
  const codes: string[] = [];
  for (let n = 0; n < 5; n++) {
    const error = await read(opening('documents/a', { root: server.url })).catch((fault: unknown) => fault);
    expect(JSON.stringify([String(error), error, (error as Error).cause])).not.toContain(token);
    codes.push((error as { code: string }).code);
  }
  expect(codes).toEqual(['unavailable', 'unavailable', 'unavailable', 'unprocessable', 'unprocessable']);
  expect(await read(opening('documents/a', { root: server.url }))).toBe('whole');
});
