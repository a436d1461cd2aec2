import { once } from 'node:events';
import http from 'node:http';
import { setImmediate as nextTick } from 'node:timers/promises';
import { createConnectorServer } from '@svc/connector-kit';
import { defaultsOf, fakeContext } from '@svc/connector-kit/testing/fake-context.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { createServer, type ServerDeps } from '../src/mcp/create-server.ts';
import { createLegacyRoutes } from '../src/mcp/legacy-routes.ts';
import { createMcpRoutes } from '../src/mcp/mcp-route.ts';
import { createOpenAccess } from '../src/mcp/open-access.ts';
import { createRunningCalls } from '../src/mcp/running-calls.ts';
import { meta } from '../src/meta.ts';
import { createOpenStreams, type OpenStreams } from '../src/notes/open-streams.ts';
import type { CheckToken } from '../src/oauth/check-token.ts';

const version = '2026-07-28';
const listen = {
  jsonrpc: '2.0',
  id: 1,
  method: 'subscriptions/listen',
  params: {
    notifications: { toolsListChanged: true },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': version,
      'io.modelcontextprotocol/clientInfo': { name: 'a probe', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
};
const headers = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': version,
  'mcp-method': listen.method,
};

test.each([
  { what: 'a legacy stream', open: (url: string) => http.get(`${url}/sse`) },
  {
    what: 'a stream of news',
    open: (url: string) => http.request(`${url}/mcp`, { method: 'POST', headers }).end(JSON.stringify(listen)),
  },
])('$what ends when its token expires', async ({ open }) => {
  const clock = createFakeClock();
  const { url } = await openRoutes(clock, async () => callerOf(clock));

  const [response] = (await once(open(url), 'response')) as [http.IncomingMessage];
  await once(response, 'data');
  expect([response.statusCode, response.headers['content-type']]).toEqual([200, expect.stringContaining('text/event-stream')]);
  clock.advance(59_999);
  expect(response.destroyed).toBe(false);
  const over = once(response, 'close').catch(() => undefined);
  response.on('error', () => undefined);
  clock.advance(1);
  await over;
  expect(response.complete).toBe(false);
});

test('a stream whose client left while its token was checked takes no message', async () => {
  const clock = createFakeClock();
  const asked = Promise.withResolvers<http.ServerResponse>();
  const checked = Promise.withResolvers<void>();
  const { url, streams } = await openRoutes(clock, async ({ res }) => {
    asked.resolve(res);
    await checked.promise;
    return callerOf(clock);
  });
  const request = http.get(`${url}/sse`).on('error', () => undefined);
  const res = await asked.promise;
  request.destroy();
  await once(res, 'close');
  checked.resolve();
  await nextTick();
  expect(await streams.tell('u', 'The train is late.')).toBe(false);
});

test('ends one of two streams that a user opens at once', async () => {
  const clock = createFakeClock();
  const both = Promise.withResolvers<void>();
  let asked = 0;
  const { url } = await openRoutes(clock, async () => {
    if (++asked === 2) both.resolve();
    await both.promise;
    return callerOf(clock);
  });
  const ends = [0, 1].map(async () => {
    const [response] = (await once(http.get(`${url}/sse`), 'response')) as [http.IncomingMessage];
    response.on('error', () => undefined).resume();
    await once(response, 'close');
  });
  await Promise.race(ends);
});

const callerOf = (clock: Clock) => ({
  userId: 'u',
  username: 'u',
  clientId: 'c',
  expiresAt: clock.now() + 60_000,
  auth: { token: 't', clientId: 'c', scopes: [] },
});

/** The routes of both transports, with a token check of the test's own. */
async function openRoutes(clock: Clock, checkToken: CheckToken): Promise<{ url: string; streams: OpenStreams }> {
  const folder = temporaryFolder();
  const { context } = fakeContext({ type: meta.type, dataDir: folder.path, config: defaultsOf(meta) });
  const streams = createOpenStreams();
  // The cast: parts that an idle stream does not use are missing.
  const deps = {
    ...context,
    clock,
    assistantName: 'a',
    access: createOpenAccess(),
    streams,
    running: createRunningCalls(),
  } as unknown as ServerDeps;
  const server = createConnectorServer({
    routes: [...createMcpRoutes({ ...deps, createServer }, checkToken, []), ...createLegacyRoutes(deps, checkToken, clock)],
    version: context.version,
    allowedHosts: [],
    renderError: (error) => {
      throw error;
    },
    log: context.log,
  });
  const { url } = await server.listen(0, '127.0.0.1');
  onTestFinished(async () => {
    await server.stop(100);
    folder.remove();
  });
  return { url, streams };
}
