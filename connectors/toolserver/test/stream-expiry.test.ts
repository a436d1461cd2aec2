import { once } from 'node:events';
import http from 'node:http';
import { createConnectorServer } from '@svc/connector-kit';
import { defaultsOf, fakeContext } from '@svc/connector-kit/testing/fake-context.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { createServer, type ServerDeps } from '../src/mcp/create-server.ts';
import { createLegacyRoutes } from '../src/mcp/legacy-routes.ts';
import { createMcpRoutes } from '../src/mcp/mcp-route.ts';
import { createOpenAccess } from '../src/mcp/open-access.ts';
import { createRunningCalls } from '../src/mcp/running-calls.ts';
import { meta } from '../src/meta.ts';
import { createOpenStreams } from '../src/notes/open-streams.ts';

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
  const folder = temporaryFolder();
  const { context } = fakeContext({ type: meta.type, dataDir: folder.path, config: defaultsOf(meta) });
  const clock = createFakeClock();
  // The cast: parts that an idle stream does not use are missing.
  const deps = {
    ...context,
    clock,
    assistantName: 'a',
    access: createOpenAccess(),
    streams: createOpenStreams(),
    running: createRunningCalls(),
  } as unknown as ServerDeps;
  const caller = { userId: 'u', username: 'u', clientId: 'c', expiresAt: clock.now() + 60_000 };
  const auth = { token: 't', clientId: 'c', scopes: [] };
  const checkToken = async () => ({ ...caller, auth });
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
