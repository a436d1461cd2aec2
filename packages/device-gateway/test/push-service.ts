import { createECDH, createPublicKey, randomBytes, verify } from 'node:crypto';
import { createServer, request, type IncomingHttpHeaders } from 'node:http';
import { onTestFinished } from 'vitest';
import type { Network } from '@svc/connector-kit/fetch-public/public-network.ts';
import { isPublicAddress } from '@svc/service-kit/http/public-address.ts';
import { listen } from '@svc/testing/listen.ts';
import { decryptPush } from './decrypt-push.ts';

/** A message as the browser reads it, with what the push service was given. */
export type Pushed = { path: string; headers: IncomingHttpHeaders; message: unknown };
export type Browser = ReturnType<typeof createBrowser>;

/** A browser that has subscribed at the push service of these tests. */
export function createBrowser(path = '/push/one', host = 'push.example') {
  const own = createECDH('prime256v1');
  own.generateKeys();
  const auth = randomBytes(16);
  const keys = { p256dh: own.getPublicKey('base64url'), auth: auth.toString('base64url') };
  return {
    path,
    subscription: { endpoint: `https://${host}${path}`, expirationTime: null, keys },
    read: (body: Buffer): unknown => JSON.parse(decryptPush(body, { privateKey: own.getPrivateKey(), auth }).toString()),
  };
}

/**
 * A push service on this machine, as RFC 8030 has it: it takes what is signed with the key that browsers subscribed with. The network
 * leads `push.example` to it; every other name and address is what it is.
 */
export async function startPushService(browsers: readonly Browser[]) {
  const pushed: Pushed[] = [];
  const refused: number[] = [];
  const waiting = new Set<() => void>();
  const asked: string[] = [];
  /** Statuses of the next answers; 201 when there are none. */
  const answers: { status: number; headers?: Record<string, string> }[] = [];
  const server = createServer((req, res) => {
    const parts: Buffer[] = [];
    req.on('data', (part: Buffer) => parts.push(part));
    req.on('end', () => {
      const { status, headers } = answers.shift() ?? { status: isSigned(req.headers.authorization ?? '') ? 201 : 403 };
      const browser = browsers.find(({ path }) => path === req.url);
      if (status === 201 && browser !== undefined)
        pushed.push({ path: browser.path, headers: req.headers, message: browser.read(Buffer.concat(parts)) });
      else refused.push(status);
      res.writeHead(status, headers).end();
      for (const look of waiting) look();
    });
  });
  const { port, close } = await listen(server);
  onTestFinished(close);
  const network: Network = {
    isAllowed: (address) => address === '203.0.113.7' || isPublicAddress(address),
    resolve: async (host) => {
      asked.push(host);
      return [{ address: host === 'push.example' ? '203.0.113.7' : '10.0.0.5', family: 4 }];
    },
    request: (url, options, onResponse) =>
      request(`http://127.0.0.1:${port}${url.pathname}`, { ...options, lookup: undefined }, onResponse),
  };
  /** Resolves when so many messages have been answered, taken or not. */
  const answered = (count: number): Promise<void> =>
    new Promise((resolve) => {
      const look = () => {
        if (pushed.length + refused.length < count) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  return { network, pushed, refused, answers, asked, answered };
}

/** Whether a header is `vapid t=…, k=…` with a good token for this service. */
function isSigned(header: string): boolean {
  const [, token = '', key = ''] = /^vapid t=([^,]+), k=(.+)$/.exec(header) ?? [];
  const [head = '', claims = '', signature = ''] = token.split('.');
  const point = Buffer.from(key, 'base64url');
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
  };
  const { aud, exp, sub } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>;
  const signed = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    { key: createPublicKey({ format: 'jwk', key: jwk }), dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  const isInTime = typeof exp === 'number' && exp * 1000 > Date.now() && exp * 1000 <= Date.now() + 24 * 60 * 60_000;
  return signed && aud === 'https://push.example' && isInTime && typeof sub === 'string' && /^(https|mailto):/.test(sub);
}
