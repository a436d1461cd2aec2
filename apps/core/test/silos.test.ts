import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, readlinkSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import type { Silo, SiloFile } from '@svc/contract/silo.ts';
import type { Tier } from '@svc/contract/trust.ts';
import { unavailable } from '@svc/service-kit/service-error.ts';
import { testUnless, whyNotLinux } from '@svc/testing/skip-note.ts';
import { Silos, type SiloDeps } from '../src/silo/silos.ts';
import { openTestCore, type TestCore } from './open-test-core.ts';

let core: TestCore;
afterEach(() => core.close());
const open = async (options: Parameters<typeof openTestCore>[0] = {}) => (core = await openTestCore(options));

const ask = (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) => core.app.inject({ method, url, payload });
const create = async (name = 'notes', min_trust: Tier = 'TRUSTED') =>
  (await ask('POST', '/v2/silos', { name, min_trust })).json<{ silo: Silo }>().silo;
const put = (id: string, at: string, payload: Buffer | string, headers: Record<string, string> = {}) =>
  core.app.inject({
    method: 'POST',
    url: `/v2/silos/${id}/file?path=${encodeURIComponent(at)}`,
    payload,
    headers: { 'content-type': 'text/plain', ...headers },
  });
const get = (id: string, at: string, headers: Record<string, string> = {}) =>
  core.app.inject({ url: `/v2/silos/${id}/file?path=${encodeURIComponent(at)}`, headers });
const remove = (id: string, at: string) => ask('DELETE', `/v2/silos/${id}/file?path=${encodeURIComponent(at)}`);
const blobsOf = (id: string) => {
  const folder = path.join(core.folder, 'silos', id);
  return existsSync(folder) ? readdirSync(folder).map((name) => path.join(folder, name)) : [];
};

describe('a silo', () => {
  test('has a unique, valid name and is listed', async () => {
    await open();
    const silo = await create();
    expect(silo).toEqual({
      id: expect.stringMatching(/^silo_/),
      name: 'notes',
      min_trust: 'TRUSTED',
      encrypted: false,
      files: 0,
      bytes: 0,
      created_at: expect.any(Number),
    });
    expect((await ask('POST', '/v2/silos', { name: 'notes', min_trust: 'GUEST' })).statusCode).toBe(409);
    expect((await ask('GET', '/v2/silos')).json()).toEqual({ silos: [silo] });
    for (const body of [{ name: '../x', min_trust: 'GUEST' }, { name: 'x', min_trust: 'ROOT' }, { name: 'x' }, {}]) {
      expect((await ask('POST', '/v2/silos', body)).statusCode, JSON.stringify(body)).toBe(400);
    }
    expect((await ask('GET', '/v2/silos/silo_none')).statusCode).toBe(404);
  });

  test('stores files, raw and as base64, replaces and deletes them', async () => {
    await open();
    const { id } = await create();
    const bytes = randomBytes(300_000);
    const stored = await put(id, 'plans/one.bin', bytes, { 'content-type': 'application/octet-stream' });
    expect(stored.json()).toMatchObject({
      ok: true,
      encrypted: false,
      file: { path: 'plans/one.bin', bytes: 300_000, sha256: createHash('sha256').update(bytes).digest('hex') },
    });
    const json = { path: 'plans/two.md', data_base64: Buffer.from('two').toString('base64'), mime: 'text/markdown' };
    expect((await ask('POST', `/v2/silos/${id}/file`, json)).json()).toMatchObject({ file: { bytes: 3, mime: 'text/markdown' } });
    const shown = (await ask('GET', `/v2/silos/${id}`)).json<Silo & { list: SiloFile[]; next: null }>();
    expect([shown.files, shown.bytes, shown.list.map((file) => file.path)]).toEqual([
      2,
      300_003,
      ['plans/one.bin', 'plans/two.md'],
    ]);
    const answer = await get(id, 'plans/one.bin');
    expect(answer.rawPayload.equals(bytes)).toBe(true);
    expect(answer.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'content-disposition': expect.stringMatching(/^attachment/),
    });
    expect((await get(id, 'plans/one.bin', { range: 'bytes=5-9' })).rawPayload.equals(bytes.subarray(5, 10))).toBe(true);
    await put(id, 'plans/one.bin', 'shorter');
    expect((await get(id, 'plans/one.bin')).body).toBe('shorter');
    expect(blobsOf(id)).toHaveLength(2);
    expect((await remove(id, 'plans/one.bin')).json()).toEqual({ ok: true });
    expect((await get(id, 'plans/one.bin')).statusCode).toBe(404);
    expect((await remove(id, 'plans/one.bin')).statusCode).toBe(404);
    expect(blobsOf(id)).toHaveLength(1);
  });

  test('takes the type of a file from the query, the header or the name, in this order', async () => {
    await open();
    const { id } = await create();
    const typeOf = async (at: string, type: string, query = '') => {
      const url = `/v2/silos/${id}/file?path=${at}${query}`;
      const answer = await core.app.inject({ method: 'POST', url, payload: 'x', headers: { 'content-type': type } });
      return answer.json<{ file: SiloFile }>().file.mime;
    };
    expect(await typeOf('a.bin', 'image/png', '&mime=application/pdf')).toBe('application/pdf');
    expect(await typeOf('a.bin', 'image/png')).toBe('image/png');
    expect(await typeOf('a.csv', 'application/octet-stream')).toBe('text/csv');
  });

  test('[H10] accepts base64 of 7,864,000 bytes as JSON, but not of 7,900,000', async () => {
    await open();
    const { id } = await create();
    const send = (size: number) =>
      ask('POST', `/v2/silos/${id}/file`, { path: 'a', data_base64: Buffer.alloc(size, 7).toString('base64') });
    expect((await send(7_864_000)).json()).toMatchObject({ file: { bytes: 7_864_000 } });
    expect((await send(7_900_000)).statusCode).toBe(413);
  });

  test('is deleted permanently, with files only when with_files is set', async () => {
    await open();
    const [empty, full] = [await create('empty'), await create('full')];
    for (const at of ['a', 'b']) await put(full.id, at, 'x');
    expect((await ask('DELETE', `/v2/silos/${empty.id}`)).json()).toEqual({ ok: true });
    for (const query of ['', '?with_files=0', '?with_files=']) {
      const refused = await ask('DELETE', `/v2/silos/${full.id}${query}`);
      expect([refused.statusCode, refused.json()]).toEqual([409, expect.objectContaining({ files: 2 })]);
    }
    expect((await get(full.id, 'a')).body).toBe('x');
    expect((await ask('DELETE', `/v2/silos/${full.id}?with_files=1`)).json()).toEqual({ ok: true });
    expect((await ask('GET', '/v2/silos')).json()).toEqual({ silos: [] });
    for (const { id } of [empty, full]) {
      expect((await ask('DELETE', `/v2/silos/${id}`)).statusCode).toBe(404);
      expect((await put(id, 'a', 'x')).statusCode).toBe(404);
      expect(existsSync(path.join(core.folder, 'silos', id))).toBe(false);
    }
    expect((await create('full')).id).not.toBe(full.id);
  });

  test('deleted during an upload discards the uploaded file', async () => {
    await open();
    const { id } = await create();
    const coming = new PassThrough();
    const writing = core.context.silos.write(id, 'a', coming);
    writing.catch(() => undefined); // checked below
    coming.write('half');
    await expect.poll(() => blobsOf(id)).toHaveLength(1);
    await core.context.silos.drop(id, false);
    coming.end('whole');
    await expect(writing).rejects.toMatchObject({ code: 'not_found' });
    expect(blobsOf(id)).toEqual([]);
    await core.context.silos.sweep();
    expect(existsSync(path.join(core.folder, 'silos', id))).toBe(false);
  });

  test('deleted during a backup keeps its files until the backup ends', async () => {
    await open();
    const { id } = await create();
    await put(id, 'a', 'first');
    const release = core.context.silos.hold();
    await core.context.silos.drop(id, true);
    expect(blobsOf(id)).toHaveLength(1);
    release();
    await expect.poll(() => blobsOf(id)).toEqual([]);
    await core.context.silos.sweep();
    expect(existsSync(path.join(core.folder, 'silos', id))).toBe(false);
  });

  test('deleted right before a kill has its files removed at the next start', async () => {
    await open();
    const { id } = await create();
    await put(id, 'a', 'x');
    await core.context.db.run('DELETE FROM silo_file WHERE silo_id = ?', id);
    await core.context.db.run('DELETE FROM silo WHERE id = ?', id);
    await core.context.silos.sweep();
    expect(existsSync(path.join(core.folder, 'silos', id))).toBe(false);
  });

  test('is accessible to callers of its tier and above', async () => {
    await open();
    const { id } = await create('notes', 'TRUSTED');
    const { silos } = core.context;
    for (const tier of ['SACRED', 'TRUSTED'] as const) await expect(silos.checkTrust(id, tier)).resolves.toBeUndefined();
    for (const tier of ['KNOWN', 'GUEST', 'UNKNOWN', 'BLOCKED'] as const) {
      await expect(silos.checkTrust(id, tier), tier).rejects.toMatchObject({ status: 403 });
    }
  });

  test('removes unnamed files at the next start', async () => {
    await open();
    const { id } = await create();
    await put(id, 'a', 'kept');
    writeFileSync(path.join(core.folder, 'silos', id, 'blob_left'), 'left');
    await core.context.silos.sweep();
    expect(blobsOf(id)).toHaveLength(1);
    expect((await get(id, 'a')).body).toBe('kept');
  });

  test('keeps the earlier content when an upload breaks off or is too large', async () => {
    await open({ env: { SVC_RAW_BODY_LIMIT: '1kb' } });
    const { id } = await create();
    await put(id, 'a', 'kept');
    const over = await put(id, 'a', Buffer.alloc(2000));
    expect([over.statusCode, over.json()]).toEqual([413, expect.objectContaining({ variable: 'SVC_RAW_BODY_LIMIT' })]);
    const broken = Readable.from(
      (async function* () {
        yield Buffer.from('half');
        throw new Error('gone');
      })(),
      { objectMode: false },
    );
    await expect(core.context.silos.write(id, 'a', broken)).rejects.toThrow();
    const big = { path: 'a', data_base64: 'A'.repeat(10 * 1024 * 1024) };
    expect((await ask('POST', `/v2/silos/${id}/file`, big)).statusCode).toBe(413);
    expect((await ask('POST', `/v2/silos/${id}/file`, { path: 'a', data_base64: '!' })).statusCode).toBe(400);
    expect((await get(id, 'a')).body).toBe('kept');
    expect(blobsOf(id)).toHaveLength(1);
  });

  test('keeps replaced content until a running backup has ended', async () => {
    await open();
    const { id } = await create();
    await put(id, 'a', 'first');
    const release = core.context.silos.hold();
    await put(id, 'a', 'second');
    expect(blobsOf(id)).toHaveLength(2);
    release();
    await expect.poll(() => blobsOf(id)).toHaveLength(1);
  });
});

describe('[S01] a silo path', () => {
  test.each([
    '',
    '.',
    '..',
    '../a',
    'a/../b',
    'a/..',
    'a/./b',
    '/etc/passwd',
    '//a',
    'a//b',
    'a/',
    '..\\a',
    'a\\b',
    'C:/a',
    'c:a',
    'a\0b',
    'a\nb',
    '\u001b[2J',
    `${'a/'.repeat(20)}b`,
    'a'.repeat(300),
    `${'a'.repeat(250)}/`.repeat(5),
  ])('%j is rejected, and nothing is stored', async (at) => {
    await open();
    const { id } = await create();
    for (const answer of [await put(id, at, 'x'), await get(id, at), await remove(id, at)]) {
      expect(answer.statusCode, answer.body).toBe(400);
    }
    expect((await ask('POST', `/v2/silos/${id}/file`, { path: at, data_base64: 'eA==' })).statusCode).toBe(400);
    expect(existsSync(path.join(core.folder, 'silos'))).toBe(false);
  });

  test('is required, and must be of an existing silo', async () => {
    await open();
    const { id } = await create();
    expect((await ask('GET', `/v2/silos/${id}/file`)).statusCode).toBe(400);
    expect((await ask('GET', `/v2/silos/..%2f..%2fcore.db/file?path=a`)).statusCode).toBe(404);
    expect((await put('silo_none', 'a', 'x')).statusCode).toBe(404);
  });

  test('is not followed through a link on the disk', async () => {
    await open();
    const { id } = await create();
    await put(id, 'a', 'x');
    const [blob = ''] = blobsOf(id);
    unlinkSync(blob);
    symlinkSync('/etc/passwd', blob);
    expect((await get(id, 'a')).statusCode).toBe(404);
  });

  test('[H04] cannot be used by a web page of another origin', async () => {
    await open();
    const { id } = await create();
    expect((await put(id, 'a', 'x', { origin: 'https://evil.example' })).statusCode).toBe(403);
    expect(blobsOf(id)).toEqual([]);
  });
});

const isHeldOpen = (file: string): boolean =>
  readdirSync('/proc/self/fd').some((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === file;
    } catch {
      return false; // closed in the meantime
    }
  });

describe('silo with a vault', () => {
  const keys = new Map<string, Buffer>();
  let isSealed = false;
  const vault: NonNullable<SiloDeps['vault']> = {
    generateSiloKey: (silo) => {
      if (isSealed) return Promise.reject(unavailable('The vault is sealed.'));
      const key = randomBytes(32);
      keys.set(`${silo} ${keys.size}`, key);
      return Promise.resolve({ key, wrapped: `${silo} ${keys.size - 1}` });
    },
    unwrapSiloKey: (_silo, wrapped) =>
      isSealed ? Promise.reject(unavailable('The vault is sealed.')) : Promise.resolve(keys.get(wrapped) ?? Buffer.of()),
  };
  let now = 0;
  const silosWith = (given: SiloDeps['vault']) => {
    const { db, paths, ids, clock } = core.context;
    return new Silos({ db, folder: paths.silos, vault: given, ids, clock: { ...clock, now: () => now, elapsed: () => now } });
  };
  const body = (text: string) => Readable.from([Buffer.from(text)], { objectMode: false });
  const textOf = async (silos: Silos, id: string, at: string) => {
    const content = await silos.content(id, at);
    if ('place' in content) return readFileSync(content.place, 'utf8');
    const parts: Buffer[] = [];
    for await (const part of content.stream) parts.push(part);
    return Buffer.concat(parts).toString('utf8');
  };

  test('encrypts files on the disk with a key that only the vault can unwrap', async () => {
    await open();
    isSealed = false;
    const silos = silosWith(vault);
    const silo = await silos.create('secret-plans', 'SACRED');
    expect(silo.encrypted).toBe(true);
    const canary = 'canary: the tulips are under the oak';
    expect((await silos.write(silo.id, 'a.txt', body(canary))).encrypted).toBe(true);
    for (const blob of blobsOf(silo.id)) expect(readFileSync(blob).includes('tulips')).toBe(false);
    expect(await textOf(silos, silo.id, 'a.txt')).toBe(canary);
    expect(await textOf(silosWith(vault), silo.id, 'a.txt')).toBe(canary);
    const second = await silos.create('others', 'SACRED');
    await silos.write(second.id, 'a.txt', body(canary));
    expect(new Set([...keys.values()].map(String)).size).toBe(keys.size);
  });

  test('refuses reads and writes while the vault is sealed, and stores nothing in the clear', async () => {
    await open();
    isSealed = false;
    const silos = silosWith(vault);
    const silo = await silos.create('secret-plans', 'SACRED');
    await silos.write(silo.id, 'a.txt', body('first'));
    isSealed = true;
    now += 5_000; // as long as the key stays cached
    await expect(silos.write(silo.id, 'a.txt', body('second'))).rejects.toMatchObject({ status: 503 });
    await expect(silos.content(silo.id, 'a.txt')).rejects.toMatchObject({ status: 503 });
    const fresh = await silos.create('fresh', 'SACRED');
    await expect(silos.write(fresh.id, 'a.txt', body('x'))).rejects.toMatchObject({ status: 503 });
    expect(blobsOf(fresh.id)).toEqual([]);
    isSealed = false;
    expect(await textOf(silos, silo.id, 'a.txt')).toBe('first');
  });

  testUnless(whyNotLinux())('a download that is aborted before its first byte leaves no file open', async () => {
    await open();
    isSealed = false;
    const silos = silosWith(vault);
    const silo = await silos.create('secret-plans', 'SACRED');
    await silos.write(silo.id, 'a.bin', body('x'.repeat(300_000)));
    const [blob = ''] = blobsOf(silo.id);
    const content = await silos.content(silo.id, 'a.bin');
    expect(isHeldOpen(blob)).toBe(true);
    if ('stream' in content) content.stream.destroy();
    await expect.poll(() => isHeldOpen(blob)).toBe(false);
  });

  test('keeps older plain files readable after the vault was set up, and encrypts new ones', async () => {
    await open();
    isSealed = false;
    const plain = silosWith(null);
    const silo = await plain.create('growing', 'SACRED');
    expect((await plain.write(silo.id, 'old', body('old text'))).encrypted).toBe(false);
    const silos = silosWith(vault);
    expect((await silos.write(silo.id, 'new', body('new text'))).encrypted).toBe(true);
    expect([await textOf(silos, silo.id, 'old'), await textOf(silos, silo.id, 'new')]).toEqual(['old text', 'new text']);
    await expect(plain.content(silo.id, 'new')).rejects.toThrow();
  });
});
