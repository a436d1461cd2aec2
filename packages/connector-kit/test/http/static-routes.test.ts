import { spawnSync } from 'node:child_process';
import { cp, link, mkdir, rename, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { http } from '@svc/service-kit/builtin.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { createStaticRoutes, type StaticOptions } from '../../src/http/static/static-routes.ts';
import { openServer, raw } from './open-server.ts';

function folder(): string {
  const { path: dir, remove } = temporaryFolder();
  onTestFinished(remove);
  return dir;
}

async function open(options?: StaticOptions) {
  const outside = folder();
  const dir = path.join(outside, 'app');
  await mkdir(path.join(dir, 'assets'), { recursive: true });
  await mkdir(path.join(dir, 'docs'));
  await mkdir(path.join(dir, '.git'));
  await Promise.all([
    writeFile(path.join(outside, 'secret.txt'), 'a secret'),
    writeFile(path.join(dir, 'index.html'), '<h1>hello</h1>'),
    writeFile(path.join(dir, 'docs/index.html'), 'docs'),
    writeFile(path.join(dir, 'empty.txt'), ''),
    writeFile(path.join(dir, 'a b&c.txt'), '0123456789'),
    writeFile(path.join(dir, 'my-document.html'), 'page'),
    writeFile(path.join(dir, 'assets/index-B3f9_kLq.js'), 'js'),
    writeFile(path.join(dir, 'assets/index-B3f9_kLq.js.gz'), gzipSync('js')),
    writeFile(path.join(dir, 'assets/index-B3f9_kLq.js.br'), 'as brotli'),
    writeFile(path.join(dir, '.env'), 'KEY=1'),
    writeFile(path.join(dir, '.git/config'), 'x'),
    symlink('../secret.txt', path.join(dir, 'link.txt')),
    symlink('..', path.join(dir, 'up')),
  ]);
  const { url, port, log } = await openServer(await createStaticRoutes(dir, options));
  const get = (file: string, headers: Record<string, string> = {}, method = 'GET') =>
    new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
      const request = http.request(url + file, { method, headers, agent: false }, (answer) => {
        text(answer).then((body) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }), reject);
      });
      request.on('error', reject).end();
    });
  return { dir, outside, port, log, get };
}

describe('static files', () => {
  test('are served with their type, and index.html for its folder', async () => {
    const { get } = await open();
    expect(await get('/')).toMatchObject({
      status: 200,
      body: '<h1>hello</h1>',
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-cache',
        'content-length': '14',
      },
    });
    expect(await get('/docs/')).toMatchObject({ status: 200, body: 'docs' });
    expect(await get('/a%20b&c.txt?v=2')).toMatchObject({ status: 200, body: '0123456789' });
    expect(await get('/empty.txt')).toMatchObject({ status: 200, body: '', headers: { 'content-length': '0' } });
  });

  test('are not sent again to a client that has them, nor to a HEAD request', async () => {
    const { get } = await open();
    const { headers } = await get('/');
    const etag = headers['etag'] as string;
    expect(await get('/', { 'if-none-match': etag })).toMatchObject({ status: 304, body: '', headers: { etag } });
    expect(await get('/', { 'if-none-match': etag, range: 'bytes=99-' })).toMatchObject({ status: 304 });
    expect(await get('/', {}, 'HEAD')).toMatchObject({ status: 200, body: '', headers: { etag, 'content-length': '14' } });
  });

  test('have an ETag by their content, regardless of size and time', async () => {
    const { get, dir } = await open();
    const before = await get('/my-document.html');
    await utimes(path.join(dir, 'my-document.html'), 1, 1);
    const touched = await get('/my-document.html');
    await writeFile(path.join(dir, 'my-document.html'), 'gape');
    await utimes(path.join(dir, 'my-document.html'), 1, 1);
    const after = await get('/my-document.html', { 'if-none-match': before.headers['etag'] as string });
    expect(touched.headers['etag']).toBe(before.headers['etag']);
    expect(after).toMatchObject({ status: 200, body: 'gape' });
  });

  test('are cached as immutable only if their names have a hash', async () => {
    const { get } = await open();
    expect((await get('/assets/index-B3f9_kLq.js')).headers['cache-control']).toContain('immutable');
    expect((await get('/my-document.html')).headers['cache-control']).toBe('no-cache');
  });

  test('are served in ranges', async () => {
    const { get } = await open();
    const file = '/a%20b&c.txt';
    const { etag } = (await get(file)).headers as { etag: string };
    expect(await get(file, { range: 'bytes=2-4' })).toMatchObject({
      status: 206,
      body: '234',
      headers: { 'content-range': 'bytes 2-4/10', 'content-length': '3' },
    });
    expect(await get(file, { range: 'bytes=-2', 'if-range': etag })).toMatchObject({ status: 206, body: '89' });
    expect(await get(file, { range: 'bytes=-2', 'if-range': '"old"' })).toMatchObject({ status: 200, body: '0123456789' });
    expect(await get(file, { range: 'bytes=10-' })).toMatchObject({ status: 416, headers: { 'content-range': 'bytes */10' } });
    expect(await get('/empty.txt', { range: 'bytes=0-' })).toMatchObject({ status: 416 });
  });

  test('are served compressed where a compressed copy exists, each with its own ETag', async () => {
    const { get } = await open();
    const file = '/assets/index-B3f9_kLq.js';
    const forms = await Promise.all(
      ['br, gzip', 'gzip', 'identity'].map((accepted) => get(file, { 'accept-encoding': accepted })),
    );
    expect(forms.map(({ headers }) => headers['content-encoding'])).toEqual(['br', 'gzip', undefined]);
    expect(forms.map(({ headers }) => headers['content-type'])).toEqual(Array(3).fill('text/javascript; charset=utf-8'));
    expect(forms.map(({ headers }) => headers['vary'])).toEqual(Array(3).fill('accept-encoding'));
    expect(new Set(forms.map(({ headers }) => headers['etag'])).size).toBe(3);
    expect(forms[0]?.body).toBe('as brotli');
    expect(await get(file, { 'accept-encoding': 'br', range: 'bytes=0-0' })).toMatchObject({ status: 206, body: 'j' });
    expect(await get(`${file}.gz`)).toMatchObject({ status: 404 });
  });

  test('have the headers and the prefix that the connector sets', async () => {
    const { get } = await open({ prefix: '/app', headers: { 'content-security-policy': "default-src 'self'" } });
    expect(await get('/app/')).toMatchObject({ status: 200, headers: { 'content-security-policy': "default-src 'self'" } });
    expect(await get('/index.html')).toMatchObject({ status: 404 });
  });
});

describe('other files and paths', () => {
  test.each([
    '/.env',
    '/.git/config',
    '/link.txt',
    '/up/secret.txt',
    '/up/app/index.html',
    '/../secret.txt',
    '/..%2fsecret.txt',
    '/%2e%2e/secret.txt',
    '/docs/..%5c..%5csecret.txt',
    '/docs/../index.html',
    '/docs',
    '/docs/index.html/',
    '/index.html%00.txt',
    '/INDEX.HTML',
    '/constructor',
    '/__proto__',
    '/nothing.txt',
  ])('%s answers 404', async (file) => {
    const { port } = await open();
    expect(await raw(port, `GET ${file} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 404/);
  });

  test('a symlink in the place of a file or folder answers 404', async () => {
    const { get, dir, outside } = await open();
    await rm(path.join(dir, 'my-document.html'));
    await symlink('../secret.txt', path.join(dir, 'my-document.html'));
    expect(await get('/my-document.html')).toMatchObject({ status: 404 });
    await cp(path.join(dir, 'docs'), path.join(outside, 'docs'), { recursive: true });
    await rename(path.join(dir, 'docs'), path.join(outside, 'old'));
    await symlink('../docs', path.join(dir, 'docs'));
    expect(await get('/docs/')).toMatchObject({ status: 404 });
  });

  test('a pipe in the place of a file answers 404', async () => {
    const { get, dir } = await open();
    await rm(path.join(dir, 'empty.txt'));
    expect(spawnSync('mkfifo', [path.join(dir, 'empty.txt')]).status).toBe(0);
    expect(await get('/empty.txt')).toMatchObject({ status: 404 });
  });

  test('a deleted file answers 404 until it exists again', async () => {
    const { get, dir } = await open();
    await rm(path.join(dir, 'empty.txt'));
    expect(await get('/empty.txt')).toMatchObject({ status: 404 });
    await link(path.join(dir, 'index.html'), path.join(dir, 'empty.txt'));
    expect(await get('/empty.txt')).toMatchObject({ status: 200 });
  });
});

test('a file that is truncated during the response closes the connection or ends early', async () => {
  const { get, dir } = await open();
  const file = path.join(dir, 'my-document.html');
  await truncate(file, 40_000_000);
  await get('/my-document.html', {}, 'HEAD');
  const answer = get('/my-document.html').then(
    ({ body }) => body.length,
    () => 'cut off',
  );
  await truncate(file, 10);
  expect([4, 10, 'cut off']).toContain(await answer);
});

test('rejects a missing folder and one that is too deep at the start', async () => {
  const dir = folder();
  await expect(createStaticRoutes(path.join(dir, 'none'))).rejects.toThrow(/ENOENT/);
  let deep = dir;
  for (let level = 0; level < 14; level++) deep = path.join(deep, 'd');
  await mkdir(deep, { recursive: true });
  await expect(createStaticRoutes(dir)).rejects.toThrow(/deep/);
});
