import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { http, type IncomingMessage } from '../builtin.ts';
import { systemClock } from '../clock.ts';
import { createIntake } from '../intake/intake.ts';
import { createLog } from '../log.ts';
import { notFound, ServiceError } from '../service-error.ts';
import { createOutboundMask, noMask } from '../redaction/outbound-mask.ts';
import { closeApp } from './close-app.ts';
import { createApp, type App } from './create-app.ts';
import { openSse } from './sse.ts';

const folder = temporaryFolder();
afterAll(folder.remove);
const intake = createIntake(folder.path);

const open = (routes: (app: App) => void, mask = noMask) =>
  createApp({
    service: 'test',
    version: { service: 'test', version: '1.0.0', channel: 'stable', sha: 'unknown', started_at: 0, node: '26' },
    log: createLog('test', 'silent'),
    allowedHosts: [],
    mask,
    intake,
    health: () => ({}),
    routes,
  });
const app = open(() => undefined);

test('an empty body may have a content type where no body is needed', async () => {
  const schema = { body: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } } as const;
  const posts = open((routes) => {
    routes.post('/start', async ({ body }) => ({ body: body ?? null }));
    routes.post('/make', { schema }, async () => ({ ok: true }));
  });
  const headers = { host: '127.0.0.1', 'content-type': 'application/json' };
  const post = (url: string) => posts.inject({ method: 'POST', url, headers });
  const [start, make] = [await post('/start'), await post('/make')];
  expect([start.statusCode, start.json()]).toEqual([200, { body: null }]);
  expect([make.statusCode, make.json()]).toEqual([
    400,
    expect.objectContaining({ message: 'The request is not valid: body must be a JSON object.' }),
  ]);
});

test.each(['/%', '/%ff', '/health/%ED%A0%80'])(
  'rejects a URL that cannot be decoded (%s) in the usual error format',
  async (url) => {
    const response = await app.inject({ url });
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({
      ok: false,
      error: 'bad_request',
      request_id: expect.stringMatching(/^req_/) as string,
    });
  },
);

test('rejects a URL parameter that is too long with that reason', async () => {
  const served = open((routes) => {
    routes.get('/named/:name', () => ({ ok: true }));
  });
  const { statusCode, body } = await served.inject({ url: `/named/${'x'.repeat(1025)}` });
  expect([statusCode, body]).toEqual([400, expect.stringContaining('is longer than 1024 characters')]);
  expect((await served.inject({ url: `/named/${'x'.repeat(1024)}` })).statusCode).toBe(200);
});

test.each([
  ['busy', {}, '5'],
  ['engine_rate_limited', {}, '5'],
  ['queue_full', { retry_after_s: 30 }, '30'],
  ['unavailable', {}, undefined],
  ['unavailable', { retry_after_s: 2 }, '2'],
] as const)('a refusal as %s with %j has Retry-After: %s', async (code, details, pause) => {
  const served = open((routes) => {
    routes.get('/limited', () => {
      throw new ServiceError(code, 'no', { details });
    });
  });
  const { headers } = await served.inject({ url: '/limited' });
  expect(headers['retry-after']).toBe(pause);
});

test.each([
  ['a request without Host', 'GET /health HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'bad_host'],
  ['bytes that are no request', 'nonsense\r\n\r\n', 400, 'bad_request'],
  ['headers that are too long', `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`, 431, 'bad_request'],
  ['an expectation', 'GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: tea\r\n\r\n', 417, 'bad_request'],
  ['a tunnel', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', 405, 'bad_request'],
])('rejects %s, which Node would reject itself, in the usual error format', async (_what, bytes, status, error) => {
  const served = open(() => undefined);
  onTestFinished(() => served.close());
  const { port, hostname } = new URL(await served.listen({ host: '127.0.0.1', port: 0 }));
  const socket = connect(Number(port), hostname).setEncoding('utf8');
  let text = '';
  socket.on('data', (part: string) => (text += part));
  socket.write(bytes);
  await once(socket, 'close');
  expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  const body = text.slice(text.indexOf('\r\n\r\n') + 4);
  expect(JSON.parse(body)).toMatchObject({ ok: false, error, request_id: expect.stringMatching(/^req_/) as string });
});

test('rejects a request during shutdown in the usual error format, and closes the connection', async () => {
  const { socket, closed, letGo, text } = await closeWhileAsked();
  socket.write('GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  letGo();
  await once(socket, 'close');
  await closed;
  expect(text().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 503']);
  expect(text()).toMatch(/connection: close/i);
  expect(JSON.parse(text().slice(text().lastIndexOf('\r\n\r\n') + 4))).toMatchObject({ ok: false, error: 'unavailable' });
});

/** An app that closes during a request, which is answered at letGo(); and the connection of its caller. */
async function closeWhileAsked() {
  const started = Promise.withResolvers<void>();
  const letGo = Promise.withResolvers<void>();
  const served = open((own) => {
    own.get('/slow', async () => {
      started.resolve();
      await letGo.promise;
      return { ok: true };
    });
  });
  const { port, hostname } = new URL(await served.listen({ host: '127.0.0.1', port: 0 }));
  const socket = connect(Number(port), hostname).setEncoding('utf8');
  let text = '';
  socket.on('data', (part: string) => (text += part));
  socket.write('GET /slow HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  await started.promise;
  const closed = served.close();
  await vi.waitFor(() => expect(served.server.listening).toBe(false));
  return { socket, closed, letGo: letGo.resolve, text: () => text };
}

test('closes a keep-alive connection after its last answer, so that the process can end', { timeout: 10_000 }, async () => {
  const { socket, closed, letGo, text } = await closeWhileAsked();
  const gone = once(socket, 'close');
  letGo();
  await Promise.all([closed, gone]);
  expect(text()).toMatch(/^HTTP\/1\.1 200[^]+"ok":true/);
});

test('closeApp() disconnects a client that never completes its body', { timeout: 10_000 }, async () => {
  const served = open((own) => void own.post('/take', () => ({ ok: true })));
  const { port, hostname } = new URL(await served.listen({ host: '127.0.0.1', port: 0 }));
  const socket = connect(Number(port), hostname).resume();
  const request = 'POST /take HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{';
  const arrived = once(served.server, 'request');
  socket.write(request);
  await arrived;
  const gone = once(socket, 'close');
  await closeApp(served, 100);
  await gone;
});

describe('JSON bodies', () => {
  const text = { type: 'object', properties: { name: { type: 'string' } } } as const;
  const own = open((routes) => {
    routes.post('/take', { schema: { body: text } }, ({ body }) => body);
    routes.post('/any', ({ body }) => ({ body }));
  });
  const post = (url: string, payload: string | Buffer) =>
    own.inject({ method: 'POST', url, payload, headers: { 'content-type': 'application/json' } });

  test.each([
    [String.raw`{"name":"\ud800"}`, 'body.name'],
    [String.raw`{"other":{"deep":["\uDBFFx"]}}`, 'body.other.deep.0'],
    [String.raw`{"\udc00":1}`, 'body.\ufffd'],
  ])('rejects %s and names the field, with or without a schema', async (payload, field) => {
    for (const url of ['/take', '/any']) {
      const response = await post(url, payload);
      expect(response.statusCode).toBe(400);
      expect(response.json()).toMatchObject({ ok: false, error: 'bad_request', fields: [{ field }] });
    }
  });

  test('rejects a body that is not UTF-8', async () => {
    const response = await post('/take', Buffer.from('7b226e616d65223a22ff227d', 'hex'));
    expect(response.json()).toMatchObject({ error: 'bad_request', message: 'The body is not valid UTF-8.' });
  });

  test.each([String.raw`{"name":"\ud83d\ude00 \\ud800"}`, '{"name":"Müller 山田 😀"}'])('accepts %s', async (payload) => {
    expect((await post('/take', payload)).json()).toEqual(JSON.parse(payload));
  });

  test.each(['', '{', '{"__proto__":{"x":1}}'])('rejects %j', async (payload) => {
    expect((await post('/take', payload)).statusCode).toBe(400);
  });
});

test('rejects a second Host header', async () => {
  const served = open(() => undefined);
  onTestFinished(() => served.close());
  const { port, hostname } = new URL(await served.listen({ host: '127.0.0.1', port: 0 }));
  const socket = connect(Number(port), hostname).setEncoding('utf8');
  socket.write(`GET /version HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`);
  let answer = '';
  for await (const text of socket) answer += String(text);
  expect(answer).toMatch(/^HTTP\/1.1 403 /);
});

test('checks the host even if the URL is invalid', async () => {
  const response = await app.inject({ url: '/%', headers: { host: 'evil.example' } });
  expect(response.json()).toMatchObject({ error: 'bad_host' });
});

/** An app that listens, with fake timers. */
async function listen(routes: (app: App) => void) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const own = open(routes);
  onTestFinished(async () => {
    vi.useRealTimers();
    own.server.closeAllConnections();
    await own.close();
  });
  const url = await own.listen({ host: '127.0.0.1', port: 0 });
  return { url, port: Number(new URL(url).port) };
}

test('does not disconnect a reader of a feed', async () => {
  const say: (() => void)[] = [];
  const { url } = await listen((routes) => {
    routes.get('/feed', (_request, reply) => {
      const sse = openSse(reply, systemClock);
      say.push(() => sse.send('event: later\n\n'));
    });
  });
  const [response] = (await once(http.get(`${url}/feed`), 'response')) as [IncomingMessage];
  vi.advanceTimersByTime(10 * 60_000);
  say[0]?.();
  expect(String((await once(response, 'data'))[0])).toBe('event: later\n\n');
});

test('rejects a body that is too slow after ten seconds', async () => {
  const { port } = await listen((routes) => {
    routes.post('/body', () => ({}));
  });
  const socket = connect(port, '127.0.0.1');
  socket.write('POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{');
  await vi.waitUntil(() => vi.getTimerCount() > 0, { timeout: 20_000, interval: 5 });
  vi.advanceTimersByTime(10_000);
  const answer = String((await once(socket, 'data'))[0]);
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  socket.resume();
  await once(socket, 'close');
});

describe('mask of responses', () => {
  const secret = 'Cnry7Var2kQzLwXp';
  const masking = createOutboundMask((text) =>
    text.replaceAll(secret, '[redacted:secret]').replaceAll('4111222233', '[redacted:secret]'),
  );
  const own = open((routes) => {
    const answer = { type: 'object', additionalProperties: true, properties: { n: { type: 'integer' } } } as const;
    routes.get('/value', () => ({ [secret]: [secret, { n: 4_111_222_233 }] }));
    routes.get('/schema', { schema: { response: { 200: answer } } }, () => ({ n: 4_111_222_233, text: `"${secret}"\n` }));
    routes.get('/text', () => `metric{name="${secret}"} 1\n`);
    routes.get('/header', (_request, reply) =>
      reply.header('content-disposition', `attachment; filename="${secret}.txt"`).send({}),
    );
    routes.get('/cookies', (_request, reply) => reply.header('set-cookie', ['a=1', `b=${secret}`]).send({}));
    routes.get('/fault', () => {
      throw notFound('thing', secret);
    });
    routes.get('/bytes', (_request, reply) => reply.send(Buffer.from(secret)));
    routes.get('/file', { config: { sendsBytes: 'a file' } }, (_request, reply) => reply.send(Buffer.from(secret)));
    routes.post('/body', { schema: { body: { type: 'object', additionalProperties: false, properties: {} } } }, () => ({}));
  }, masking);

  test.each(['/value', '/schema', '/text', '/header', '/cookies', '/fault', `/${secret}`, `/%zz${secret}`, '/bytes'])(
    'masks GET %s',
    async (url) => {
      const answer = await own.inject({ url, headers: { 'x-request-id': secret } });
      expect(JSON.stringify(answer.headers) + answer.payload).not.toContain(secret);
      expect(answer.payload).not.toContain('4111222233');
    },
  );

  test('masks each value of a header and adds none', async () => {
    expect((await own.inject('/cookies')).headers['set-cookie']).toEqual(['a=1', 'b=[redacted:secret]']);
  });

  test('masks field names in a validation error', async () => {
    const answer = await own.inject({ method: 'POST', url: '/body', payload: { [secret]: 1 } });
    expect([answer.statusCode, answer.payload]).toEqual([400, expect.not.stringContaining(secret)]);
  });

  test('sends bytes unmasked only from a route that declares them', async () => {
    expect((await own.inject('/file')).payload).toBe(secret);
    expect((await own.inject('/bytes')).statusCode).toBe(500);
  });
});

describe('connection', () => {
  /** Returns the answers once `enough` holds or the connection is closed. */
  async function send(text: string, enough: (answers: string) => boolean = () => false): Promise<string> {
    const listening = open(() => undefined);
    onTestFinished(() => listening.close());
    const url = new URL(await listening.listen({ host: '127.0.0.1', port: 0 }));
    const socket = connect(Number(url.port), '127.0.0.1').on('error', () => undefined);
    let answers = '';
    socket.on('data', (part: Buffer) => {
      answers += part.toString('latin1');
      if (enough(answers)) socket.destroy();
    });
    socket.write(text);
    socket.setTimeout(30_000, () => socket.destroy());
    await once(socket, 'close');
    return answers;
  }
  const request = 'GET /version HTTP/1.1\r\nHost: localhost\r\n';

  test('handles 500 pipelined requests and rejects the others', async () => {
    const count = (answers: string, status: number) => answers.split(`HTTP/1.1 ${status}`).length - 1;
    const answers = await send(`${request}\r\n`.repeat(3000), (all) => count(all, 503) === 2500);
    expect([count(answers, 200), answers.match(/^connection: close/gim)?.length]).toEqual([500, 2501]);
  });

  test.each(['websocket', 'h2c'])('ignores an upgrade to %s and answers the request', async (protocol) => {
    const answer = await send(`${request}Connection: Upgrade, close\r\nUpgrade: ${protocol}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200/);
  });
});
