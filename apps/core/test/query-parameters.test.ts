import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestCore, type TestCore } from './open-test-core.ts';

let core: TestCore;
beforeAll(async () => {
  core = await openTestCore();
});
afterAll(() => core.close());

const ask = (request: string) => {
  const [method = '', url = ''] = request.split(' ');
  const body = method === 'POST' && { payload: 'hi', headers: { 'content-type': 'text/plain' } };
  return core.app.inject({ method: method as 'GET', url, ...body });
};

test.each([
  'POST /v2/upload?filename=a&filename=b',
  'POST /v2/upload?filename=a&mime=a/b&mime=a/c',
  'POST /v2/upload?filename=a&conversation_key=a&conversation_key=b',
  'GET /v2/uploads?text=a&text=b',
  'GET /v2/uploads?before=a&before=b',
  'POST /v2/silos/s/file?path=a&path=b',
  'GET /v2/silos/s/file?path=a&path=b',
  'DELETE /v2/silos/s/file?path=a&path=b',
  'GET /trust/principals?after=a&after=b',
  'GET /trust/audit?principal=a&principal=b',
  'GET /v2/deliveries?conversation_key=a&conversation_key=b',
  'GET /v2/asks?principal=a&principal=b',
  'DELETE /v2/folders/trusted?path=/a&path=/b',
])('a parameter given twice is rejected and named: %s', async (request) => {
  const answer = await ask(request);
  const name = /(\w+)=[^&]+$/.exec(request)?.[1] ?? '';
  const problem = { field: `querystring.${name}`, problem: 'is given more than once' };
  expect([answer.statusCode, answer.json()]).toMatchObject([400, { error: 'bad_request', fields: [problem] }]);
});

test.each(['', 'k'.repeat(513)])(
  'rejects an upload for the invalid conversation key "%s", in the query and in JSON alike',
  async (key) => {
    expect((await ask(`POST /v2/upload?filename=a&conversation_key=${key}`)).statusCode).toBe(400);
    const payload = { filename: 'a', data_base64: 'aGk=', conversation_key: key };
    expect((await core.app.inject({ method: 'POST', url: '/v2/upload', payload })).statusCode).toBe(400);
  },
);
