import { randomBytes } from 'node:crypto';
import { readdirSync, readlinkSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { ManifestEntry } from '@svc/contract/upload.ts';
import { openUploadBench } from './open-upload-bench.ts';

const bench = openUploadBench();
const { inUploads, lines, open, post } = bench;

describe('an uploaded file', () => {
  const upload = async (name: string, mime: string, bytes: Buffer) => {
    await post('/v2/upload', { filename: name, mime, data_base64: bytes.toString('base64') });
    return lines().at(-1)?.id ?? '';
  };

  test('is listed newest first, in pages', async () => {
    await open();
    for (const name of ['a', 'b', 'c', 'd', 'e']) await upload(name, 'text/plain', Buffer.from(name));
    type Page = { files: ManifestEntry[]; next: string | null };
    const first = (await bench.core.app.inject('/v2/uploads?limit=2')).json<Page>();
    const second = (await bench.core.app.inject(`/v2/uploads?limit=2&before=${first.next}`)).json<Page>();
    const third = (await bench.core.app.inject(`/v2/uploads?limit=2&before=${second.next}`)).json<Page>();
    expect([first, second, third].map(({ files }) => files.map(({ name }) => name))).toEqual([['e', 'd'], ['c', 'b'], ['a']]);
    expect(third.next).toBeNull();
    expect((await bench.core.app.inject('/v2/uploads?limit=-1')).statusCode).toBe(400);
  });

  test('[U15] is served as a download that a browser does not run', async () => {
    await open();
    const id = await upload('page "x" ü.html', 'text/html', Buffer.from('<script>alert(1)</script>'));
    const { headers, body, statusCode } = await bench.core.app.inject(`/v2/uploads/${id}/file`);
    expect(statusCode).toBe(200);
    expect(body).toBe('<script>alert(1)</script>');
    expect(headers['content-disposition']).toMatch(/^attachment; filename=/);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    });
  });

  const stored = async () => {
    await open();
    const id = await upload('a.bin', 'application/octet-stream', Buffer.from('0123456789'));
    const ask = (headers: Record<string, string>, method: 'GET' | 'HEAD' = 'GET') =>
      bench.core.app.inject({ method, url: `/v2/uploads/${id}/file`, headers });
    return { id, ask, file: lines().at(-1)?.path ?? '' };
  };

  test('is served in ranges, and answers 404 for an invalid id', async () => {
    const { ask } = await stored();
    expect(await ask({ range: 'bytes=2-4' })).toMatchObject({
      statusCode: 206,
      body: '234',
      headers: {
        'content-range': 'bytes 2-4/10',
        'content-length': '3',
        'content-disposition': expect.stringMatching(/^attach/),
      },
    });
    expect(await ask({ range: 'bytes=-3' })).toMatchObject({ statusCode: 206, body: '789' });
    expect(await ask({ range: 'bytes=20-30' })).toMatchObject({ statusCode: 416, headers: { 'content-range': 'bytes */10' } });
    expect(await ask({ range: 'bytes=0-1,5-6' })).toMatchObject({ statusCode: 200, body: '0123456789' });
    expect(await ask({ range: 'bytes=x' })).toMatchObject({ statusCode: 200, body: '0123456789' });
    for (const none of ['upl_0000000000000000000', '..%2f..%2fcore.db'])
      expect((await bench.core.app.inject(`/v2/uploads/${none}/file`)).statusCode).toBe(404);
  });

  test('can be resumed, unless the file has changed', async () => {
    const { ask, file } = await stored();
    const { etag = '', 'last-modified': modified = '' } = (await ask({})).headers;
    for (const ifRange of [etag, modified])
      expect(await ask({ range: 'bytes=5-', 'if-range': ifRange })).toMatchObject({ statusCode: 206, body: '56789' });
    expect(await ask({ 'if-none-match': etag })).toMatchObject({ statusCode: 304, body: '', headers: { etag } });
    expect(await ask({ 'if-modified-since': modified })).toMatchObject({ statusCode: 304, body: '' });
    writeFileSync(inUploads(file), 'abcdefghij');
    utimesSync(inUploads(file), 1_700_000_000, 1_700_000_000);
    for (const ifRange of [etag, modified])
      expect(await ask({ range: 'bytes=5-', 'if-range': ifRange })).toMatchObject({ statusCode: 200, body: 'abcdefghij' });
    expect((await ask({ 'if-none-match': etag })).statusCode).toBe(200);
    expect((await ask({ 'if-match': etag })).statusCode).toBe(412);
  });

  test('answers HEAD with the length and without the content', async () => {
    const { ask } = await stored();
    expect(await ask({ range: 'bytes=2-4' }, 'HEAD')).toMatchObject({
      statusCode: 200,
      body: '',
      headers: { 'content-length': '10', 'accept-ranges': 'bytes', 'x-content-type-options': 'nosniff' },
    });
  });

  test('[U13] is not served through a link planted in its place', async () => {
    const { ask, file } = await stored();
    rmSync(inUploads(file));
    expect((await ask({})).statusCode).toBe(404);
    symlinkSync('/etc/hostname', inUploads(file));
    expect((await ask({})).statusCode).toBe(404);
  });

  test('is closed when its reader disconnects', async () => {
    await open({ env: {} });
    const id = await upload('a.bin', 'application/octet-stream', randomBytes(6_000_000));
    const url = await bench.core.app.listen({ port: 0, host: '127.0.0.1' });
    const openFiles = () => readdirSync('/proc/self/fd').filter((fd) => linkOf(`/proc/self/fd/${fd}`).endsWith('a.bin')).length;
    const stop = new AbortController();
    const answer = await fetch(`${url}/v2/uploads/${id}/file`, { signal: stop.signal });
    expect(answer.status).toBe(200);
    expect(openFiles()).toBe(1);
    stop.abort();
    await expect.poll(() => openFiles()).toBe(0);
    await bench.core.app.inject(`/v2/uploads/${id}/file`);
    for (const headers of [{ range: 'bytes=9999999-' }, { 'if-none-match': '*' }])
      await bench.core.app.inject({ url: `/v2/uploads/${id}/file`, headers });
    await expect.poll(() => openFiles()).toBe(0);
  });
});

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return ''; // closed in the meantime
  }
}
