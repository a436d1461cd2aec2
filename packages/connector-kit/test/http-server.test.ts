import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '@svc/service-kit/clock.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createConnectorServer, type ConnectorServer } from '../src/http/create-server.ts';
import { sendJson, type Exchange } from '../src/http/exchange.ts';
import { createJsonReader } from '../src/http/read-json.ts';
import type { Route } from '../src/http/route-table.ts';
import { createSseWriter } from '../src/http/sse-writer.ts';

const readJson = createJsonReader({ bodyBytes: 1024 * 1024, totalBytes: 4 * 1024 * 1024 });
const health: Route = { method: 'GET', path: '/health', handle: (exchange) => sendJson(exchange, { status: 200, body: '{}' }) };
const version = { service: 'test', version: '1.2.3', channel: 'stable', sha: 'abc', started_at: 1, node: '26.0.0' };
const echo: Route = {
  method: 'POST',
  path: '/echo',
  handle: async (exchange) => sendJson(exchange, { status: 200, body: JSON.stringify(await readJson(exchange.req)) }),
};

describe('the HTTP server of connectors', () => {
  const servers: ConnectorServer[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop(0);
  });
  const open = async (routes: Route[] = [health, echo], log = vi.fn(), unreadMs?: number) => {
    const server = createConnectorServer({
      routes,
      version,
      unreadMs,
      allowedHosts: ['gateway.example'],
      renderError: (error) => ({ status: error.status, body: JSON.stringify({ code: error.code, message: error.message }) }),
      log,
    });
    servers.push(server);
    return { server, log, ...(await server.listen(0, '127.0.0.1')) };
  };
  const post = (url: string, body: string | Blob, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
    fetch(`${url}/echo`, { method: 'POST', headers, body });

  test('answers with the request id it was given, or one of its own', async () => {
    const { url } = await open();
    const given = await fetch(`${url}/health`, { headers: { 'x-request-id': 'abc-1' } });
    expect(given.headers.get('x-request-id')).toBe('abc-1');
    const own = await fetch(`${url}/health`, { headers: { 'x-request-id': 'no spaces please' } });
    expect(own.headers.get('x-request-id')).toMatch(/^req_/);
  });

  test.each([
    [String.raw`{"a":{"user":"\ud800"}}`, 'body.a.user has broken characters'],
    [String.raw`{"\udc00":1}`, 'body.\ufffd has broken characters'],
    [new Blob([Buffer.from('7b2261223a22ff227d', 'hex')]), 'The body is not valid UTF-8.'],
  ])('refuses a body with text that is not well-formed (%#)', async (body, message) => {
    const { url } = await open();
    const response = await post(url, body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'bad_request', message: expect.stringContaining(message) as string });
  });

  test('tells what runs, and describes its routes', async () => {
    const one: Route = {
      ...health,
      path: '/thing/:id',
      doc: { summary: 'One thing', needsKey: true, reply: { type: 'object' } },
    };
    const { url } = await open([{ ...echo, doc: { summary: 'Repeats', body: { type: 'array' } } }, one]);
    expect(await (await fetch(`${url}/version`)).json()).toEqual(version);
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, object> };
    expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'test', version: '1.2.3' } });
    expect(Object.keys(document.paths)).toEqual(['/echo', '/thing/{id}', '/version', '/openapi.json']);
    expect(document.paths['/echo']).toMatchObject({
      post: { summary: 'Repeats', requestBody: { content: { 'application/json': { schema: { type: 'array' } } } } },
    });
    expect(document.paths['/thing/{id}']).toMatchObject({
      get: { parameters: [{ name: 'id', in: 'path' }], security: [{ key: [] }], responses: { 200: {}, default: {} } },
    });
  });

  test.each([
    ['a foreign host name', { host: 'evil.example' }, 'bad_host'],
    ['a foreign host with its own origin', { host: 'evil.example', origin: 'http://evil.example' }, 'bad_host'],
    ['a foreign origin', { host: '127.0.0.1', origin: 'https://evil.example' }, 'bad_origin'],
    ['an opaque origin', { host: '127.0.0.1', origin: 'null' }, 'bad_origin'],
    ['a cross-site fetch', { host: '127.0.0.1', 'sec-fetch-site': 'cross-site' }, 'bad_origin'],
  ])('refuses %s on every route, also open and unknown ones', async (_what, headers, code) => {
    const { port } = await open();
    for (const line of ['GET /health', 'POST /echo', 'GET /unknown']) {
      const lines = Object.entries({ ...headers, 'content-length': '0', connection: 'close' }).map(
        ([name, value]) => `${name}: ${value}\r\n`,
      );
      const answer = await raw(port, `${line} HTTP/1.1\r\n${lines.join('')}\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 403/);
      expect(answer).toContain(code);
      expect(answer.toLowerCase()).not.toContain('access-control-allow');
    }
  });

  test("serves the operator's own host name", async () => {
    const { port } = await open();
    expect(await raw(port, 'GET /health HTTP/1.1\r\nHost: gateway.example\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 200/,
    );
  });

  test.each([
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['multipart/form-data; boundary=x', 415],
    ['application/jsonx', 415],
    ['', 415],
    ['application/json', 200],
    ['Application/JSON; charset=utf-8', 200],
  ])('answers a body of the type %j with %i', async (type, status) => {
    const { url } = await open();
    expect((await post(url, new Blob(['{"a":1}']), type === '' ? {} : { 'content-type': type })).status).toBe(status);
  });

  test.each([['{'], [''], ['{"a":1} x'], ['\u0000']])('answers the body %j with 400', async (body) => {
    const { url } = await open();
    expect((await post(url, body)).status).toBe(400);
  });

  test('is not changed by keys that name prototypes, nor stopped by deep nesting', async () => {
    const { url } = await open();
    await post(url, '{"__proto__":{"x":1},"constructor":{"prototype":{"x":1}}}');
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
    await post(url, '['.repeat(100_000) + ']'.repeat(100_000));
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });

  test('answers a body past the limit with 413, its length declared or not', async () => {
    const { url, port } = await open();
    expect((await post(url, JSON.stringify('x'.repeat(1024 * 1024)))).status).toBe(413);
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const head =
      'POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n';
    expect(await raw(port, `${head}${chunk.repeat(20)}0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 413/);
  });

  test('a body that comes byte by byte costs its bytes, and one that stops coming is answered', async () => {
    const { url, port } = await open();
    const head =
      'POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 102\r\nConnection: close\r\n\r\n';
    const sender = connect(port, '127.0.0.1').setNoDelay(true);
    sender.write(head);
    for (const byte of `"${'x'.repeat(100)}"`) {
      sender.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    let answer = '';
    for await (const part of sender) answer += String(part);
    expect(answer).toMatch(/^HTTP\/1\.1 200/);
    const slow = connect(port, '127.0.0.1');
    slow.write(head);
    let refusal = '';
    for await (const part of slow) refusal += String(part);
    expect(refusal).toMatch(/^HTTP\/1\.1 408/);
    expect((await fetch(`${url}/health`)).status).toBe(200);
  }, 30_000);

  test('of requests that come together on one connection 500 are handled', async () => {
    const { port } = await open();
    const answers = await raw(port, 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(3000));
    expect(answers.match(/HTTP\/1\.1 200/g)).toHaveLength(500);
  });

  test('answers 429 when the bodies being read hold too much together, and recovers', async () => {
    const tight = createJsonReader({ bodyBytes: 100_000, totalBytes: 100_000 });
    const { url, port } = await open([
      health,
      {
        ...echo,
        handle: async (exchange) => sendJson(exchange, { status: 200, body: JSON.stringify(await tight(exchange.req)) }),
      },
    ]);
    const holder = connect(port, '127.0.0.1');
    holder.write(
      `POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 90000\r\n\r\n"${'x'.repeat(80_000)}`,
    );
    await expect.poll(async () => (await post(url, JSON.stringify('x'.repeat(50_000)))).status).toBe(429);
    holder.destroy();
    await expect.poll(async () => (await post(url, JSON.stringify('x'.repeat(50_000)))).status).toBe(200);
  });

  test.each([
    ['both lengths', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', /^HTTP\/1\.1 400/],
    ['two lengths', 'Content-Length: 2\r\nContent-Length: 40\r\n', /^HTTP\/1\.1 400/],
    ['a folded header', 'X-A: 1\r\n 2\r\nContent-Length: 2\r\n', /^HTTP\/1\.1 400/],
    ['a bare line feed', 'X-A: 1\nContent-Length: 2\r\n', /^HTTP\/1\.1 400/],
    ['17 KB of headers', `X-A: ${'a'.repeat(17 * 1024)}\r\n`, /^HTTP\/1\.1 431/],
    ['a NUL', 'X-A: \u0000\r\n', /^HTTP\/1\.1 400/],
  ])('closes after one refusal on %s, and runs nothing that follows', async (_what, headers, wanted) => {
    const ran = vi.fn();
    const { port } = await open([
      { ...echo, handle: (exchange) => (ran(), echo.handle(exchange)) },
      { ...health, handle: (exchange) => (ran(), health.handle(exchange)) },
    ]);
    const smuggled = 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const answer = await raw(
      port,
      `POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}\r\n{}${smuggled}`,
    );
    expect(answer).toMatch(wanted);
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(ran).not.toHaveBeenCalled();
  });

  test('keeps what went wrong inside out of its answer, and puts it into the log', async () => {
    const broken: Route = { method: 'GET', path: '/broken', handle: () => Promise.reject(new Error('password=hunter2')) };
    const { url, log } = await open([broken]);
    const answer = await fetch(`${url}/broken`);
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain('hunter2');
    expect(log).toHaveBeenCalledWith('error', expect.any(String), expect.objectContaining({ error: 'password=hunter2' }));
  });

  test('rejects when its port is taken', async () => {
    const { port } = await open();
    const second = createConnectorServer({
      routes: [],
      version,
      allowedHosts: [],
      renderError: () => ({ status: 500, body: '' }),
      log: vi.fn(),
    });
    await expect(second.listen(port, '127.0.0.1')).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  test('drops a reader that leaves a finished reply unread, and none that waits for one', async () => {
    const dropped = Promise.withResolvers<boolean>();
    const huge: Route = {
      method: 'GET',
      path: '/huge',
      handle(exchange) {
        exchange.res.once('close', () => dropped.resolve(exchange.res.writableFinished));
        sendJson(exchange, { status: 200, body: JSON.stringify('x'.repeat(32 * 1024 * 1024)) });
      },
    };
    const slow: Route = {
      method: 'GET',
      path: '/slow',
      handle: async (exchange) => sendJson(exchange, { status: 200, body: JSON.stringify(await dropped.promise) }),
    };
    const { port, url } = await open([huge, slow], vi.fn(), 200);
    const waiting = fetch(`${url}/slow`);
    const stalled = connect(port, '127.0.0.1');
    stalled.pause();
    stalled.write('GET /huge HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await expect(waiting.then((answer) => answer.json())).resolves.toBe(false);
    stalled.destroy();
  });

  describe('stopping', () => {
    const slow = () => {
      let finish!: () => void;
      let exchange!: Exchange;
      const begun = Promise.withResolvers<void>();
      const route: Route = {
        method: 'GET',
        path: '/slow',
        handle(given) {
          exchange = given;
          begun.resolve();
          return new Promise<void>((resolve) => (finish = resolve)).then(() =>
            sendJson(exchange, { status: 200, body: '"done"' }),
          );
        },
      };
      return { route, begun: begun.promise, finish: () => finish() };
    };

    test('lets a running request finish and takes no new ones', async () => {
      const { route, begun, finish } = slow();
      const { server, url } = await open([route, health]);
      const running = fetch(`${url}/slow`);
      await begun;
      const stopped = server.stop(10_000);
      await expect(fetch(`${url}/health`)).rejects.toThrow();
      finish();
      const answer = await running;
      expect(answer.headers.get('connection')).toBe('close');
      await expect(answer.text()).resolves.toBe('"done"');
      await stopped;
    });

    test('ends the connection of a stream that had begun, as soon as the stream is over', async () => {
      const opened = Promise.withResolvers<ReturnType<typeof createSseWriter>>();
      const route: Route = {
        method: 'GET',
        path: '/stream',
        handle(exchange) {
          const writer = createSseWriter(exchange, systemClock);
          writer.send('data: 1\n\n');
          opened.resolve(writer);
        },
      };
      const { server, port } = await open([route]);
      const reader = connect(port, '127.0.0.1');
      const read = text(reader);
      reader.write('GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
      const writer = await opened.promise;
      const stopped = server.stop(60_000);
      writer.end();
      await stopped;
      expect(await read).toContain('data: 1');
    });

    test('cuts off what is still running at the deadline', async () => {
      const { route, begun } = slow();
      const { server, url } = await open([route]);
      const running = fetch(`${url}/slow`);
      await begun;
      const stopped = server.stop(50);
      await expect(running).rejects.toThrow();
      await stopped;
    });
  });

  describe('an event stream', () => {
    const stream = (
      use: (writer: ReturnType<typeof createSseWriter>, exchange: Exchange) => void,
      clock = systemClock,
    ): Route => ({
      method: 'GET',
      path: '/stream',
      handle: (exchange) => use(createSseWriter(exchange, clock), exchange),
    });

    test('sends its frames in order and ends', async () => {
      const { url } = await open([
        stream((writer) => {
          writer.send('data: 1\n\n');
          writer.send('data: 2\n\n');
          queueMicrotask(() => {
            writer.send('data: 3\n\n');
            writer.end();
          });
        }),
      ]);
      const answer = await fetch(`${url}/stream`);
      expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/);
      expect(await answer.text()).toBe('data: 1\n\ndata: 2\n\ndata: 3\n\n');
    });

    test('writes the frames of one tick at once', async () => {
      const writes: string[] = [];
      const { url } = await open([
        stream((writer, { res }) => {
          const write = res.write.bind(res);
          res.write = (text: string) => (writes.push(text), write(text));
          for (let i = 0; i < 10; i++) writer.send(`data: ${i}\n\n`);
          setImmediate(() => writer.end());
        }),
      ]);
      await (await fetch(`${url}/stream`)).text();
      expect(writes).toHaveLength(1);
    });

    test('opens with a comment after 15 quiet seconds, and stays quiet while there is something to send', async () => {
      const clock = createFakeClock();
      const opened = Promise.withResolvers<ReturnType<typeof createSseWriter>>();
      const { url } = await open([stream((writer) => opened.resolve(writer), clock)]);
      const answer = fetch(`${url}/stream`);
      const writer = await opened.promise;
      clock.advance(14_999);
      expect(writer.isOpen()).toBe(false);
      clock.advance(1);
      expect(writer.isOpen()).toBe(true);
      clock.advance(5_000);
      writer.send('data: 1\n\n');
      clock.advance(10_000);
      writer.end();
      await expect((await answer).text()).resolves.toBe(': keep-alive\n\ndata: 1\n\n');
    });

    test('drops a reader that reads nothing, but not one who gets a single huge frame', async () => {
      const done = Promise.withResolvers<boolean>();
      const frame = `data: ${'x'.repeat(256 * 1024)}\n\n`;
      const { port, url } = await open([
        stream((writer, { res }) => {
          res.on('close', () => done.resolve(res.writableFinished));
          const more = () => {
            if (res.destroyed) return;
            writer.send(frame);
            setImmediate(more);
          };
          more();
        }),
        {
          method: 'GET',
          path: '/huge',
          handle: (exchange) => {
            const writer = createSseWriter(exchange, systemClock);
            writer.send('x'.repeat(8 * 1024 * 1024));
            setImmediate(() => writer.end());
          },
        },
      ]);
      const stalled = connect(port, '127.0.0.1');
      stalled.pause();
      stalled.write('GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await expect(done.promise).resolves.toBe(false);
      stalled.destroy();
      expect((await (await fetch(`${url}/huge`)).text()).length).toBe(8 * 1024 * 1024);
    });
  });
});

/** Writes bytes as they are and gives all that came back until the server closed, at most 5 s. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket: Socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.setTimeout(5_000, () => socket.destroy());
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
    socket.write(text, 'latin1');
  });
}
