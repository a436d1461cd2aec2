import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createTreeCount } from './tree-listing.ts';
import { fetchSettings } from './fetch-settings.ts';
import { parseGitUrl, refFault } from './git-source.ts';
import { reachHost } from './reach-host.ts';
import { Secret } from '@svc/service-kit/secret.ts';

const allowed = ['127.0.0.1:9418', 'git.lan'];

describe('address of a repository', () => {
  test.each([
    ['https://example.com/a/b.git', 'https://example.com/a/b.git', 443],
    ['HTTPS://Example.com:8443/a', 'https://example.com:8443/a', 8443],
    ['git://127.0.0.1:9418/a', 'git://127.0.0.1:9418/a', 9418],
    ['http://git.lan/a', 'http://git.lan/a', 80],
  ])('accepts %s', (text, url, port) => {
    expect(parseGitUrl(text, allowed)).toMatchObject({ ok: true, source: { url, port } });
  });

  test.each([
    'file:///etc',
    'ext::sh -c id',
    'ext::sh%20-c%20id',
    'ssh://git@example.com/a',
    'git@example.com:a/b.git',
    '--upload-pack=id',
    '-u id',
    '/etc',
    'https://user:pass@example.com/a',
    'https://user@example.com/a',
    'https://example.com/a?x=1',
    'https://example.com/a#x',
    'https://example.com/',
    'https://-oProxyCommand=id/a',
    'https:///a',
    'https://example.com./a',
    'http://example.com/a',
    'git://example.com/a',
    'http://git.lan.example.com/a',
    'git://127.0.0.1:22/a',
    'https://example.com/a b',
    'https://example.com/a\nHost: x',
    'https://example.com\\@git.lan/a',
    'https:example.com/a',
    'javascript:alert(1)',
    '',
  ])('rejects %j', (text) => {
    expect(parseGitUrl(text, allowed)).toMatchObject({ ok: false });
  });

  test('accepts only allowed schemes without user, query or git options, in random addresses', () => {
    const text = fc.oneof(
      fc.webUrl({ withQueryParameters: true }),
      fc.string(),
      fc.string().map((end) => `https://${end}`),
    );
    fc.assert(
      fc.property(text, (given) => {
        const parsed = parseGitUrl(given, allowed);
        if (!parsed.ok) return;
        const url = new URL(parsed.source.url);
        expect([url.username, url.password, url.search, url.hash]).toEqual(['', '', '', '']);
        expect(parsed.source.url).toMatch(/^(https|http|git):\/\/[^-]/);
        if (!parsed.source.isAllowed) expect(url.protocol).toBe('https:');
      }),
    );
  });
});

describe('host of a repository', () => {
  const source = (url: string) => {
    const parsed = parseGitUrl(url, allowed);
    if (!parsed.ok) throw new Error(parsed.why);
    return parsed.source;
  };
  test.each([
    'https://127.0.0.1/a',
    'https://0x7f.1/a',
    'https://[::1]/a',
    'https://[::ffff:10.0.0.1]/a',
    'https://169.254.169.254/a',
  ])('rejects %s as private', async (url) => expect(await reachHost(source(url))).toEqual({ ok: false, why: 'private' }));
  test('is rejected when one of its addresses is private', async () => {
    const ask = async () => [{ address: '8.8.8.8' }, { address: '10.0.0.1' }];
    expect(await reachHost(source('https://example.com/a'), ask)).toEqual({ ok: false, why: 'private' });
  });
  test('may be private when the operator allows it', async () => {
    expect(await reachHost(source('http://git.lan/a'), async () => [{ address: '10.0.0.1' }])).toEqual({
      ok: true,
      addresses: ['10.0.0.1'],
    });
  });
  test('that cannot be resolved is reported as unknown', async () => {
    const ask = () => Promise.reject(new Error('ENOTFOUND'));
    expect(await reachHost(source('https://example.com/a'), ask)).toEqual({ ok: false, why: 'unknown' });
  });
  test('alone gets the credential, at the addresses that were checked', () => {
    expect(fetchSettings(source('https://example.com:8443/a/b'), ['8.8.8.8', '2600::1'], new Secret('t0ken\n'))).toEqual([
      ['http.curloptResolve', 'example.com:8443:8.8.8.8,[2600::1]'],
      [
        'http.https://example.com:8443/.extraHeader',
        `Authorization: Basic ${Buffer.from('x-access-token:t0ken').toString('base64')}`,
      ],
    ]);
  });
});

describe('ref of a repository', () => {
  test.each(['main', 'v1.0', 'feature/x', 'refs/pull/7/head', 'a@b', 'ünïcode', '+plus', 'a'.repeat(40)])('accepts %s', (ref) => {
    expect(refFault(ref)).toBeNull();
  });
  test.each([
    '-u',
    '--upload-pack=x',
    'a..b',
    'a:b',
    'a b',
    'a^',
    'a~1',
    'x@{1}',
    '@',
    'a//b',
    '/a',
    'a/',
    '.a',
    'a.lock',
    'a\u0000',
    'a*',
    'a\\b',
  ])('rejects %j', (ref) => expect(refFault(ref)).not.toBeNull());
});

describe('tree size', () => {
  const entry = (size: number | string, path: string) => `100644 blob ${'a'.repeat(40)} ${String(size).padStart(7)}\t${path}\0`;
  test('does not depend on how the listing is split', () => {
    const sizes = fc.array(fc.nat(1_000_000), { maxLength: 50 });
    fc.assert(
      fc.property(sizes, fc.nat(60), (given, step) => {
        const count = createTreeCount({ files: 100, bytes: Number.MAX_SAFE_INTEGER });
        const all = Buffer.from(given.map((size, at) => entry(size, `f${at}`)).join(''));
        for (let at = 0; at < all.length; at += step + 1) count.take(all.subarray(at, at + step + 1));
        expect([count.bytes(), count.fault()]).toEqual([given.reduce((sum, size) => sum + size, 0), null]);
      }),
    );
  });
  test.each([
    ['files', entry(1, 'a').repeat(11), 'more than 10 files'],
    ['bytes', entry(2_000_000_000, 'a'), 'larger than 1 MB'],
    ['path', `100644 blob a 1\t${'x'.repeat(20_000)}`, 'longer than'],
  ])('has a limit for %s', (_, text, fault) => {
    const count = createTreeCount({ files: 10, bytes: 2 ** 20 });
    count.take(Buffer.from(text));
    expect(count.fault()).toContain(fault);
  });
  test('counts a submodule as a file without size', () => {
    const count = createTreeCount({ files: 10, bytes: 10 });
    count.take(Buffer.from(`160000 commit ${'a'.repeat(40)}       -\tsub\0`));
    expect([count.bytes(), count.fault()]).toEqual([0, null]);
  });
});
