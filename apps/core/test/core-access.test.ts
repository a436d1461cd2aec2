import { toolNames } from '@svc/contract/toolbelt.ts';
import { type MountedRoute, mountedRoutes, schemaProblems } from '@svc/testing/mounted-routes.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTestCore, type TestCore } from './open-test-core.ts';

const token = 'a-token-of-the-core-0123456789';
let core: TestCore;
beforeEach(async () => {
  core = await openTestCore({ env: { SVC_CORE_TOKEN: token } });
});
afterEach(() => core.close());

const bearer = (value: string) => ({ authorization: `Bearer ${value}` });
const passOf = (instanceId: string) => core.context.connectorPasses.issue({ type: 'shop', instanceId }).reveal();
const ask = (method: 'GET' | 'POST', url: string, headers: Record<string, string> = {}) =>
  core.app.inject({ method, url, headers, ...(method === 'POST' && { payload: {} }) });

test('every route requires the token, except health, version and the OpenAPI document', async () => {
  const { paths } = (await ask('GET', '/openapi.json')).json<{ paths: Record<string, Record<string, unknown>> }>();
  const routes = Object.entries(paths).flatMap(([url, methods]) =>
    Object.keys(methods).map((method) => [method.toUpperCase(), url]),
  );
  expect(routes.length).toBeGreaterThan(60);
  const answers = await Promise.all(
    routes.map(async ([method = '', url = '']) => {
      const path = url.replaceAll(/\{\w+\}/g, 'x');
      const { statusCode } = await core.app.inject({ method: method as 'GET', url: path, headers: bearer('wrong') });
      return `${method} ${url} ${statusCode}`;
    }),
  );
  const open = ['/health', '/version', '/openapi.json'].map((url) => `GET ${url} 200`);
  expect(answers.filter((answer) => !answer.endsWith(' 401') && !open.includes(answer))).toEqual([]);
});

const isHidden = ({ method, schema }: MountedRoute) => method !== 'HEAD' && schema?.['hide'] === true;
const routesOfCore = () => mountedRoutes(async () => (await openTestCore()).close());

test('every schema of a route is valid, since none is checked at runtime', async () => {
  expect(schemaProblems(await routesOfCore())).toEqual([]);
});

test('the undocumented routes are /openapi.json and those of turns, which accept no other token', async () => {
  const routes = await routesOfCore();
  const hidden = routes.filter(isHidden).map(({ method, url }) => `${String(method)} ${url}`);
  const ofTurns = [...toolNames.map((name) => `POST /v2/toolbelt/${name}`), 'GET /v2/device-tools', 'POST /v2/device-tools'];
  expect(hidden.toSorted()).toEqual(['GET /openapi.json', ...ofTurns].toSorted());
  for (const route of ofTurns) {
    const [method = '', url = ''] = route.split(' ');
    for (const headers of [{}, bearer('wrong'), bearer(token), bearer(passOf('s1'))])
      expect([route, (await ask(method as 'GET', url, headers)).statusCode]).toEqual([route, 401]);
  }
});

test('a request with the token is accepted, and one without it is told which setting to use', async () => {
  expect((await ask('GET', '/v2/sessions', bearer(token))).statusCode).toBe(200);
  const refused = await ask('GET', '/v2/sessions');
  expect(refused.statusCode).toBe(401);
  expect(refused.headers['www-authenticate']).toBe('Bearer');
  expect(refused.json()).toMatchObject({ error: 'unauthorized', message: expect.stringContaining('SVC_CORE_TOKEN') as string });
});

test('a connector may upload with its pass, and do nothing else', async () => {
  const upload = (headers: Record<string, string>) =>
    core.app.inject({
      method: 'POST',
      url: '/v2/upload?filename=a.txt',
      headers: { 'content-type': 'application/octet-stream', ...headers },
      payload: 'hello',
    });
  expect((await upload(bearer(passOf('s1')))).statusCode).toBe(200);
  expect((await upload({})).statusCode).toBe(401);
  for (const url of ['/v2/sessions', '/v2/uploads', '/v2/deliveries'])
    expect((await ask('GET', url, bearer(passOf('s1')))).statusCode).toBe(401);
  expect((await ask('POST', '/v2/handle', bearer(passOf('s1')))).statusCode).toBe(401);
});

test('a connector may assign an uploaded file to its own conversations only', async () => {
  const whole = { payload: 'hello', headers: { 'content-type': 'application/octet-stream' } };
  const json = (conversation_key: string) => ({ payload: { filename: 'a.txt', data_base64: 'aGk=', conversation_key } });
  const upload = (key: string, body: { payload: string | object; headers?: object }, url = '/v2/upload') =>
    core.app.inject({ method: 'POST', url, ...body, headers: { ...body.headers, ...bearer(passOf('s1')) } });
  const asWhole = (key: string) => upload(key, whole, `/v2/upload?filename=a.txt&conversation_key=${encodeURIComponent(key)}`);
  for (const key of ['shop:s2:user:1', 'compat:s1:user:1', 'shop:s1', 'shop:s10:user:1', 'x']) {
    for (const answer of [await asWhole(key), await upload(key, json(key))]) {
      expect([key, answer.statusCode]).toEqual([key, 403]);
      expect(answer.json()).toMatchObject({ error: 'forbidden', message: expect.stringContaining('shop instance s1') as string });
    }
  }
  for (const answer of [await asWhole('shop:s1:user:1'), await upload('', json('shop:s1:user:1'))]) {
    expect(answer.statusCode).toBe(200);
    const { id } = answer.json<{ file: { id: string } }>().file;
    expect((await ask('GET', `/v2/uploads/${id}/file`, bearer(token))).statusCode).toBe(200);
  }
});

test('tools of a turn require the token of the turn, not that of the core', async () => {
  const [name = ''] = toolNames;
  const answer = await ask('POST', `/v2/toolbelt/${name}`, bearer(token));
  expect(answer.json()).toMatchObject({ message: 'This token belongs to no running turn.' });
});
