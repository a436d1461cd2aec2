import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, request as tlsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fetchPublic } from './fetch-public.ts';
import type { Network } from './public-network.ts';
import { isPublicAddress } from '@svc/service-kit/http/public-address.ts';

type Answer = (req: IncomingMessage, res: ServerResponse) => void;

let server: Server;
let port: number;
let answer: Answer;
/** Addresses that were connected to, as the system was told. */
let connected: string[];
beforeEach(async () => {
  connected = [];
  answer = (_req, res) => res.end('bytes');
  server = createServer((req, res) => answer(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** The internet of these tests: `203.0.113.7` is public and answers here, under any name; the rules are the real ones. */
const network = (names: Record<string, string[]> = {}, publicOnes = ['203.0.113.7']): Network => ({
  isAllowed: (address) => publicOnes.includes(address) || isPublicAddress(address),
  async resolve(host) {
    return (names[host] ?? ['203.0.113.7']).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  },
  request(url, options, onResponse) {
    const lookup: typeof options.lookup = (host, how, done) =>
      options.lookup(host, how, (_error, found) => {
        connected.push(...(found as { address: string }[]).map(({ address }) => address));
        done(null, [{ address: '127.0.0.1', family: 4 }]);
      });
    return request(`http://${url.hostname}:${port}${url.pathname}`, { ...options, lookup }, onResponse);
  },
});
const get = (url: string, names?: Record<string, string[]>, more: { maxBytes?: number; timeoutMs?: number } = {}) =>
  fetchPublic(url, { maxBytes: 1024, timeoutMs: 20_000, network: network(names), ...more });
const refusal = (words: RegExp) => expect.objectContaining({ code: 'unprocessable', message: expect.stringMatching(words) });

test('connects to the checked address and sends no cookies or authorization', async () => {
  let headers: IncomingMessage['headers'] = {};
  answer = (req, res) => {
    headers = req.headers;
    res.end('bytes');
  };
  expect((await get('https://example.com/a.png')).toString()).toBe('bytes');
  expect(connected).toEqual(['203.0.113.7']);
  expect(headers).not.toHaveProperty('cookie');
  expect(headers).not.toHaveProperty('authorization');
});

describe('rejected addresses', () => {
  test.each([
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://017700000001/',
    'https://127.1/',
    'https://[::1]/',
    'https://[::ffff:169.254.169.254]/',
    'https://[64:ff9b::a9fe:a9fe]/',
    'https://169.254.169.254/latest/meta-data/',
    'https://100.100.100.200/',
    'https://168.63.129.16/',
    'https://10.0.0.1:8443/',
    'https://[fe80::1]/',
    'https://0/',
    'https://\u2460\u2461\u2466.0.0.1/',
  ])('%s', async (url) => {
    await expect(get(url)).rejects.toEqual(refusal(/no public internet address/));
    expect(connected).toEqual([]);
  });

  test.each([
    ['http://example.com/'],
    ['file:///etc/passwd'],
    ['ftp://example.com/'],
    ['gopher://example.com/'],
    ['//example.com/'],
    ['https://'],
    ['javascript:alert(1)'],
    [`https://example.com/${'x'.repeat(10_000)}`],
  ])('%s: only https is allowed', async (url) => {
    await expect(get(url)).rejects.toEqual(refusal(/https:/));
  });

  test('a host with several addresses is rejected if one of them is private', async () => {
    const names = { 'mixed.example': ['203.0.113.7', '10.0.0.8'], 'v6.example': ['203.0.113.7', '::ffff:127.0.0.1'] };
    for (const host of Object.keys(names))
      await expect(get(`https://${host}/`, names)).rejects.toEqual(refusal(/no public internet address/));
    expect(connected).toEqual([]);
  });

  test('an unknown host gets the same message as a private one', async () => {
    const words = async (names: Record<string, string[]>) =>
      get('https://intranet.example/', names).catch((error: unknown) => (error as Error).message);
    expect(await words({ 'intranet.example': [] })).toBe(await words({ 'intranet.example': ['192.168.1.1'] }));
  });

  test('a URL with a password is rejected', async () => {
    await expect(get('https://user:secret@example.com/')).rejects.toEqual(refusal(/name or password/));
  });
});

test('connects to the address that was checked, even if the name resolves differently a moment later', async () => {
  let asked = 0;
  const rebinding = network();
  rebinding.resolve = async () => [{ address: asked++ === 0 ? '203.0.113.7' : '127.0.0.1', family: 4 }];
  await fetchPublic('https://rebind.example/', { maxBytes: 1024, timeoutMs: 20_000, network: rebinding });
  expect([asked, connected]).toEqual([1, ['203.0.113.7']]);
});

describe('redirects', () => {
  const moved = (...to: string[]) => {
    let hop = 0;
    answer = (_req, res) => (hop < to.length ? res.writeHead(302, { location: to[hop++] }).end() : res.end('moved'));
  };

  test('are followed, absolute and relative', async () => {
    moved('https://other.example/x', '/y', '../z');
    expect((await get('https://example.com/')).toString()).toBe('moved');
    expect(connected).toHaveLength(4);
  });

  test.each([
    ['https://169.254.169.254/latest/', /no public internet address/],
    ['https://[::ffff:127.0.0.1]/', /no public internet address/],
    ['https://intern.example/', /no public internet address/],
    ['//127.0.0.1/', /no public internet address/],
    ['http://example.com/', /https:/],
    ['file:///etc/passwd', /https:/],
    ['https://a:b@example.com/', /password/],
  ])('to %s are rejected', async (location, words) => {
    moved(location);
    await expect(get('https://example.com/', { 'intern.example': ['10.9.8.7'] })).rejects.toEqual(refusal(words));
    expect(connected).toHaveLength(1);
  });

  test('are limited to 3', async () => {
    answer = (_req, res) => res.writeHead(302, { location: '/again' }).end();
    await expect(get('https://example.com/')).rejects.toEqual(refusal(/more than 3 times/));
  });
});

describe('downloads', () => {
  test('are rejected over the size limit, with or without a Content-Length', async () => {
    const big = (headers: Record<string, string>) => {
      answer = (_req, res) => res.writeHead(200, headers).end(Buffer.alloc(2048));
      return expect(get('https://example.com/')).rejects.toMatchObject({ code: 'too_large' });
    };
    await big({ 'content-length': '2048' });
    await big({ 'transfer-encoding': 'chunked' });
  });

  test('time out when the body does not end, the host does not answer, or its name does not resolve', async () => {
    for (const stall of [(res: ServerResponse) => void res.write('a'), () => undefined]) {
      answer = (_req, res) => stall(res);
      await expect(get('https://example.com/', {}, { timeoutMs: 200 })).rejects.toEqual(refusal(/within/));
    }
    const silent = { ...network(), resolve: () => new Promise<never>(() => undefined) };
    await expect(fetchPublic('https://x.example/', { maxBytes: 1, timeoutMs: 50, network: silent })).rejects.toEqual(
      refusal(/within/),
    );
  });

  test('are rejected when cut off, compressed or missing', async () => {
    answer = (_req, res) => {
      res.writeHead(200, { 'content-length': '100' }).write('half');
      setImmediate(() => res.destroy());
    };
    await expect(get('https://example.com/')).rejects.toEqual(refusal(/closed the connection/));
    answer = (_req, res) => res.writeHead(200, { 'content-encoding': 'gzip' }).end('x');
    await expect(get('https://example.com/')).rejects.toEqual(refusal(/compressed/));
    answer = (_req, res) => res.writeHead(404).end();
    await expect(get('https://example.com/')).rejects.toEqual(refusal(/answered 404/));
  });
});

test('checks the certificate against the host name, not the address', async () => {
  const tls = createTlsServer({ key: testKey, cert: testCertificate }, (_req, res) => res.end('over tls'));
  await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve));
  const { port: tlsPort } = tls.address() as AddressInfo;
  const secure = (ca?: string): Network => ({
    isAllowed: () => true,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    request: (url, options, onResponse) => tlsRequest(url, { ...options, ca }, onResponse),
  });
  const ask = (host: string, ca?: string) =>
    fetchPublic(`https://${host}:${tlsPort}/`, { maxBytes: 1024, timeoutMs: 20_000, network: secure(ca) });
  try {
    expect((await ask('files.example', testCertificate)).toString()).toBe('over tls');
    await expect(ask('other.example', testCertificate)).rejects.toEqual(refusal(/could not be reached/));
    await expect(ask('files.example')).rejects.toEqual(refusal(/could not be reached/));
  } finally {
    tls.close();
  }
});

/** Made for this test only. */
const testKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgLLiUaU08Q1ZDbpIi
n3Z3Hz0emYt4uaym/FJnsLVhRJuhRANCAASSo6mYeKn1xwgSiYJBvm30F2qKzd0G
GuSj6Dgzzf5nlILkfH4XXj5+HwkmMqEim29vItXJpNn9o85sKLXGHNgx
-----END PRIVATE KEY-----
`;
const testCertificate = `-----BEGIN CERTIFICATE-----
MIIBbTCCAROgAwIBAgIBATAKBggqhkjOPQQDAjAYMRYwFAYDVQQDDA1maWxlcy5l
eGFtcGxlMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAYMRYwFAYD
VQQDDA1maWxlcy5leGFtcGxlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEkqOp
mHip9ccIEomCQb5t9Bdqis3dBhrko+g4M83+Z5SC5Hx+F14+fh8JJjKhIptvbyLV
yaTZ/aPObCi1xhzYMaNMMEowGAYDVR0RBBEwD4INZmlsZXMuZXhhbXBsZTAPBgNV
HRMBAf8EBTADAQH/MB0GA1UdDgQWBBTTerpf9wzuNfGp3c0lFQszII5s/jAKBggq
hkjOPQQDAgNIADBFAiEArv3+3w7We4drwHoG1lR0ijPpILWG9zPDwIO6E4bnahQC
IG3kPPL3IEyYCttxId8hAOmWo+qR0RHtnsbQ5527riPY
-----END CERTIFICATE-----
`;
