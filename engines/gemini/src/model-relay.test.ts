import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { http, type IncomingMessage, type Server, type ServerResponse } from '@svc/service-kit/builtin.ts';
import { startModelRelay, type ModelRelay, type RelayListener } from './model-relay.ts';
import { hideCommands } from './plain-text.ts';
import type { Refusal } from './refusal.ts';

const route = '/v1beta/models/m:streamGenerateContent?alt=sse';

let seen: { headers: IncomingMessage['headers']; body: string }[];
let reply: (response: ServerResponse) => void;
let server: Server;
let relay: ModelRelay;
let told: { thoughts: string[]; refusals: Refusal[]; requests: string[]; cuts: number };
let listener: RelayListener;

beforeEach(async () => {
  seen = [];
  told = { thoughts: [], refusals: [], requests: [], cuts: 0 };
  listener = {
    onRequest: (body) => told.requests.push(body.toString()),
    onThought: (text) => told.thoughts.push(text),
    onRefusal: (refusal) => told.refusals.push(refusal),
    onCut: () => told.cuts++,
  };
  server = http.createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      seen.push({ headers: request.headers, body });
      reply(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`;
  relay = await startModelRelay({ baseUrl, apiKey: 'vendor-key', env: {} });
});
afterEach(async () => {
  await relay.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const ask = (key: string, text = 'hi', path = route) =>
  fetch(relay.url + path, { method: 'POST', headers: { 'x-goog-api-key': key }, body: JSON.stringify({ text }) });
const event = (parts: object[], finishReason?: string) =>
  `data: ${JSON.stringify({ candidates: [{ content: { parts }, finishReason }] })}\n\n`;
const stream =
  (...events: string[]) =>
  (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(events.join(''));
  };

describe('model relay', () => {
  test('passes a reply on, reports its thoughts, and inserts the vendor key and the original text', async () => {
    const whole = [event([{ text: 'hm', thought: true }]), event([{ text: 'yes' }], 'STOP')];
    reply = stream(...whole);
    const { key } = relay.open(listener);
    expect(await (await ask(key, hideCommands('see @x'))).text()).toBe(whole.join(''));
    expect(told).toMatchObject({ thoughts: ['hm'], refusals: [], cuts: 0 });
    expect(told.requests).toHaveLength(1);
    expect(seen[0]).toMatchObject({ headers: { 'x-goog-api-key': 'vendor-key' }, body: '{"text":"see @x"}' });
  });

  test('accepts only requests to models with the key of a running turn', async () => {
    const turn = relay.open(listener);
    expect((await ask('vendor-key')).status).toBe(401);
    expect((await ask(turn.key, 'hi', '/v1beta/files')).status).toBe(404);
    turn.close();
    expect((await ask(turn.key)).status).toBe(401);
    expect(seen).toEqual([]);
  });

  test.each([
    ['a short wait', '2', 429],
    ['a long wait', '40', 400],
  ])('reports a refusal with %s to the turn, without letting the program sleep for long', async (_name, retryAfter, status) => {
    reply = (response) => {
      response.writeHead(429, { 'retry-after': retryAfter });
      response.end('{"error":{"message":"slow down"}}');
    };
    const { key } = relay.open(listener);
    expect((await ask(key)).status).toBe(status);
    expect(told.refusals).toMatchObject([{ status: 429, message: 'slow down', retryAfterMs: Number(retryAfter) * 1000 }]);
  });

  test('[X09] does not follow redirects, so that the key goes to the named server only', async () => {
    reply = (response) => response.writeHead(307, { location: `${relay.url}/elsewhere` }).end();
    const answer = await ask(relay.open(listener).key);
    expect([answer.status, answer.headers.get('location'), seen.length]).toEqual([307, null, 1]);
  });

  test('reports an unreachable model service as a refusal with the reason', async () => {
    const { key } = relay.open(listener);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect((await ask(key)).status).toBe(502);
    expect(told.refusals).toMatchObject([{ status: 0, message: expect.stringContaining('ECONNREFUSED') }]);
  });

  test('reports a reply that is cut off', async () => {
    reply = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(event([{ text: 'half' }]), () => response.destroy());
    };
    const { key } = relay.open(listener);
    await expect((await ask(key)).text()).rejects.toThrow();
    await expect.poll(() => told.cuts).toBe(1);
  });

  test('closes the upstream request when the program disconnects, without reporting a cut', async () => {
    const gone = Promise.withResolvers<void>();
    reply = (response) => {
      response.on('close', gone.resolve);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(event([{ text: 'half' }]));
    };
    const { key } = relay.open(listener);
    const answer = await ask(key);
    await answer.body?.cancel();
    await gone.promise;
    reply = stream(event([{ text: 'next' }], 'STOP'));
    await (await ask(key)).text();
    expect(told.cuts).toBe(0);
  });
});
