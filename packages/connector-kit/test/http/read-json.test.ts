import { connect } from 'node:net';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { sendJson } from '../../src/http/exchange.ts';
import { createJsonReader } from '../../src/http/read-json.ts';
import { echo, health, openServer, post, raw } from './open-server.ts';

describe('JSON bodies of a connector', () => {
  test.each([
    [String.raw`{"a":{"user":"\ud800"}}`, 'body.a.user has broken characters'],
    [String.raw`{"\udc00":1}`, 'body.\ufffd has broken characters'],
    [new Blob([Buffer.from('7b2261223a22ff227d', 'hex')]), 'The body is not valid UTF-8.'],
  ])('rejects a body with ill-formed text (%#)', async (body, message) => {
    const { url } = await openServer();
    const response = await post(url, body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'bad_request', message: expect.stringContaining(message) as string });
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
    const { url } = await openServer();
    expect((await post(url, new Blob(['{"a":1}']), type === '' ? {} : { 'content-type': type })).status).toBe(status);
  });

  test.each([
    ['gzip', gzipSync('{"a":1}'), 415],
    ['zstd', zstdCompressSync('{"a":1}'), 415],
    ['Identity', '{"a":1}', 200],
  ])('answers a body with the encoding %s by its support for it', async (coding, body, status) => {
    const { url } = await openServer();
    const response = await post(url, new Blob([body]), { 'content-type': 'application/json', 'content-encoding': coding });
    expect(response.status).toBe(status);
    if (status !== 200)
      expect(await response.json()).toMatchObject({ message: expect.stringContaining('uncompressed') as string });
  });

  test.each([['{'], [''], ['{"a":1} x'], ['\u0000']])('answers the body %j with 400', async (body) => {
    const { url } = await openServer();
    expect((await post(url, body)).status).toBe(400);
  });

  test.each([
    ['short', '{"a":"\u00fc"}'],
    ['empty', ''],
    ['no JSON', '{"a":1} x'],
    ['not well-formed', String.raw`{"a":"\udc00"}`],
    ['not UTF-8', Buffer.from('7b2261223a22ff227d', 'hex')],
    ['deep', '['.repeat(5000) + ']'.repeat(5000)],
    ['many items', `[${'1,'.repeat(7000)}1]`],
    ['of the longest that is read at once', JSON.stringify('x'.repeat(16 * 1024 - 2))],
    ['longer', JSON.stringify('x'.repeat(16 * 1024 - 1))],
  ])('gives the same answer whether the body arrives with its head or after it: %s', async (_what, text) => {
    const { port } = await openServer();
    const body = Buffer.from(text);
    const head = Buffer.from(
      `POST /echo HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: r\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`,
    );
    const answerTo = async (...parts: Buffer[]): Promise<string> => {
      const socket = connect(port, '127.0.0.1').setNoDelay(true);
      for (const part of parts) {
        socket.write(part);
        await new Promise((resolve) => setImmediate(resolve));
      }
      let answer = '';
      for await (const part of socket) answer += String(part);
      return answer.replace(/^Date: .*\r\n/m, '');
    };
    const whole = await answerTo(Buffer.concat([head, body]));
    expect(whole).toMatch(/^HTTP\/1\.1 [24]00/);
    expect(await answerTo(head, body)).toBe(whole);
  });

  test('is safe from keys that name prototypes and from deep nesting', async () => {
    const { url } = await openServer();
    await post(url, '{"__proto__":{"x":1},"constructor":{"prototype":{"x":1}}}');
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
    await post(url, '['.repeat(100_000) + ']'.repeat(100_000));
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });

  test('answers 413 to a body over the limit, with and without a declared length', async () => {
    const { url, port } = await openServer();
    expect((await post(url, JSON.stringify('x'.repeat(1024 * 1024)))).status).toBe(413);
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const head =
      'POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n';
    expect(await raw(port, `${head}${chunk.repeat(20)}0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 413/);
  });

  test('reads a body that arrives byte by byte, and answers 408 when it stalls', async () => {
    const { url, port } = await openServer();
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
  });

  test('answers 429 while the bodies being read exceed their total limit, and recovers', async () => {
    const tight = createJsonReader({ bodyBytes: 100_000, totalBytes: 100_000 });
    const { url, port } = await openServer([
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
});
