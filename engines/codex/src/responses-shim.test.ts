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

test('only who knows the token gets through', async () => {
  await open();
  expect((await post({ input: 'hi' }, 'guess')).status).toBe(401);
  expect(model.requests).toEqual([]);
});

test('the token stays here, and the key of the endpoint goes up in its place', async () => {
  await open('key');
  await (await post({ input: 'hi', stream: true })).text();
  expect(model.requests[0]?.auth).toBe('Bearer');
  await Promise.all([shim.close(), model.close()]);
  await open(null);
  await (await post({ input: 'hi', stream: true })).text();
  expect(model.requests[0]?.auth).toBe(null);
});

test('a strict server gets functions only, and codex gets its own names back', async () => {
  await open();
  model.script([{ steps: [{ tool: /kit__echo/, input: { text: 'x' } }] }]);
  const tools = [{ type: 'web_search' }, { type: 'namespace', name: 'kit', tools: [{ type: 'function', name: 'echo' }] }];
  const reply = await (await post({ input: 'hi', stream: true, tools })).text();
  expect(reply).toContain('"name":"echo"');
  expect(reply).toContain('"namespace":"kit"');
});

test('an error of the server keeps its status and words', async () => {
  await open();
  model.script([{ status: 429, kind: 'rate_limit', message: 'slow down', headers: { 'retry-after': '7' } }]);
  const response = await post({ input: 'hi', stream: true });
  expect(response.status).toBe(429);
  expect(response.headers.get('retry-after')).toBe('7');
  expect(await response.text()).toContain('slow down');
});

test('[X09] no redirect is followed: the key goes to the named server alone', async () => {
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

test('a server that is away is a 502 at once', async () => {
  await open();
  await model.close();
  const response = await post({ input: 'hi', stream: true });
  expect(response.status).toBe(502);
  expect(await response.text()).toContain('ECONNREFUSED');
});
