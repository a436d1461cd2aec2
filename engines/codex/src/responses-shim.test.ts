import { afterEach, expect, test } from 'vitest';
import { http } from '@svc/service-kit/builtin.ts';
import { listen } from '@svc/testing/listen.ts';
import { startModelServer, type ModelServer } from '@svc/testing/model-server/start-model-server.ts';
import { startResponsesShim, type ResponsesShim } from './responses-shim.ts';

let shim: ResponsesShim;
let model: ModelServer;
afterEach(async () => {
  await shim.close();
  await model.close();
});

const open = async (apiKey: string | null = null) => {
  model = await startModelServer({ strictTools: true });
  shim = await startResponsesShim({ baseUrl: model.url, apiKey });
};
const post = (body: object, token = shim.token) =>
  fetch(`${shim.url}/responses`, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: JSON.stringify(body) });

test('rejects a request without the token', async () => {
  await open();
  expect((await post({ input: 'hi' }, 'guess')).status).toBe(401);
  expect(model.requests).toEqual([]);
});

test('replaces the token by the key of the endpoint', async () => {
  await open('key');
  await (await post({ input: 'hi', stream: true })).text();
  expect(model.requests[0]?.auth).toBe('Bearer');
  await Promise.all([shim.close(), model.close()]);
  await open(null);
  await (await post({ input: 'hi', stream: true })).text();
  expect(model.requests[0]?.auth).toBe(null);
});

test('sends functions only to a strict server, and restores the names for codex', async () => {
  await open();
  model.script([{ steps: [{ tool: /kit__echo/, input: { text: 'x' } }] }]);
  const tools = [{ type: 'web_search' }, { type: 'namespace', name: 'kit', tools: [{ type: 'function', name: 'echo' }] }];
  const reply = await (await post({ input: 'hi', stream: true, tools })).text();
  expect(reply).toContain('"name":"echo"');
  expect(reply).toContain('"namespace":"kit"');
});

test('passes on the status and message of an error', async () => {
  await open();
  model.script([{ status: 429, kind: 'rate_limit', message: 'slow down', headers: { 'retry-after': '7' } }]);
  const response = await post({ input: 'hi', stream: true });
  expect(response.status).toBe(429);
  expect(response.headers.get('retry-after')).toBe('7');
  expect(await response.text()).toContain('slow down');
});

test('[X09] does not follow redirects, so that the key goes to the named server only', async () => {
  await open();
  await shim.close();
  const elsewhere = model.url;
  const server = http.createServer((_request, response) => response.writeHead(307, { location: `${elsewhere}/responses` }).end());
  const { url, close } = await listen(server);
  shim = await startResponsesShim({ baseUrl: url, apiKey: 'key' });
  const response = await post({ input: 'hi', stream: true });
  expect([response.status, response.headers.get('location')]).toEqual([307, null]);
  expect(model.requests).toEqual([]);
  await close();
});

test('answers 502 at once when the server is unreachable', async () => {
  await open();
  await model.close();
  const response = await post({ input: 'hi', stream: true });
  expect(response.status).toBe(502);
  expect(await response.text()).toContain('ECONNREFUSED');
});
