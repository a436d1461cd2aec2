import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '@svc/testing/listen.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { startGitHubServer } from '@svc/testing/github-server/index.ts';
import { createGitHubApi } from './github-api.ts';

test('sends no request during a rate limit, and reports its end in one text', async () => {
  const clock = createFakeClock(Date.parse('2026-01-01T10:00:00Z'));
  const server = await startGitHubServer();
  onTestFinished(() => server.close());
  const api = createGitHubApi(server.token, server.apiUrl, clock);
  const said = () => api.read('GET /user', {}, AbortSignal.timeout(10_000)).then(String, (error: Error) => error.message);
  server.failNext(/^GET/, { limit: 'secondary', retryAfterS: 3000 });
  expect(await said()).toMatch(/^GitHub is limiting the rate of requests: /);
  const told = 'GitHub is limiting the rate of requests until 10:50:00 UTC. The connector continues automatically.';
  expect(await said()).toBe(told);
  clock.advance(2_999_000);
  expect(await said()).toBe(told);
  expect(server.calls).toEqual([]);
  clock.advance(1000);
  expect(await said()).not.toContain('limiting');
  expect(server.calls).toHaveLength(1);
});

test.each([
  ['NOT_FOUND', 'not_found'],
  ['FORBIDDEN', 'forbidden'],
  ['RATE_LIMITED', 'busy'],
  [undefined, 'unavailable'],
])('tells from the answer of GraphQL why an edit is not known: %s', async (type, code) => {
  const headers = { 'content-type': 'application/json', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1767265200' };
  const body = JSON.stringify({ data: { node: null }, errors: [{ type, message: 'No.' }] });
  const server = createServer((_, response) => void response.writeHead(200, headers).end(body));
  const { url, close } = await listen(server);
  onTestFinished(close);
  const api = createGitHubApi('t'.repeat(20), url, createFakeClock(Date.parse('2026-01-01T10:00:00Z')));
  await expect(api.lastEdit('node', AbortSignal.timeout(10_000))).rejects.toMatchObject({ code });
});

test.each([301, 307])(
  'follows the redirect of a transferred issue when writing (%i), but not to another server',
  async (status) => {
    const asked: string[] = [];
    const other = createServer((_, response) => void response.end(asked.push('another server')));
    const elsewhere = await listen(other);
    const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      asked.push(`${request.method} ${request.url} ${await text(request)}`);
      const to = new Map([
        ['/repos/ann/demo/issues/1/comments', '/repositories/9/issues/4/comments'],
        ['/repos/ann/demo/issues/2/comments', `${elsewhere.url}/comments`],
      ]).get(request.url ?? '');
      if (to !== undefined) return void response.writeHead(status, { location: to }).end('{}');
      response.writeHead(201, { 'content-type': 'application/json' });
      response.end(JSON.stringify(request.method === 'POST' ? { id: 77 } : []));
    };
    const server = createServer((request, response) => void answer(request, response));
    const { url, close } = await listen(server);
    onTestFinished(async () => void (await Promise.all([close(), elsewhere.close()])));
    const api = createGitHubApi('t'.repeat(20), url);
    const write = (issue_number: number) => {
      const place = { owner: 'ann', repo: 'demo', issue_number, body: 'It is blue.' };
      return api.write('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', place, AbortSignal.timeout(10_000));
    };
    expect(await write(1)).toEqual({ id: 77 });
    await expect(write(2)).rejects.toThrow('GitHub did not answer');
    const body = '{"body":"It is blue."}';
    expect(asked).toEqual([
      `POST /repos/ann/demo/issues/1/comments ${body}`,
      `POST /repositories/9/issues/4/comments ${body}`,
      `POST /repos/ann/demo/issues/2/comments ${body}`,
    ]);
  },
);
