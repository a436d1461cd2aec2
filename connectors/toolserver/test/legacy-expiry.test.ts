import { once } from 'node:events';
import http from 'node:http';
import { createConnectorServer } from '@svc/connector-kit';
import { defaultsOf, fakeContext } from '@svc/connector-kit/testing/fake-context.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import type { ServerDeps } from '../src/mcp/create-server.ts';
import { createLegacyRoutes } from '../src/mcp/legacy-routes.ts';
import { createOpenAccess } from '../src/mcp/open-access.ts';
import { meta } from '../src/meta.ts';
import { createOpenStreams } from '../src/notes/open-streams.ts';

test('a legacy stream is over when the token that opened it is', async () => {
  const folder = temporaryFolder();
  const { context } = fakeContext({ type: meta.type, dataDir: folder.path, config: defaultsOf(meta) });
  const clock = createFakeClock();
  // The cast: what a stream that asks nothing does not use is missing.
  const deps = {
    ...context,
    assistantName: 'a',
    access: createOpenAccess(),
    streams: createOpenStreams(),
  } as unknown as ServerDeps;
  const caller = { userId: 'u', username: 'u', clientId: 'c', expiresAt: clock.now() + 60_000 };
  const auth = { token: 't', clientId: 'c', scopes: [] };
  const routes = createLegacyRoutes(deps, async () => ({ ...caller, auth }), clock);
  const server = createConnectorServer({
    routes,
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

  const [response] = (await once(http.get(`${url}/sse`), 'response')) as [http.IncomingMessage];
  await once(response, 'data');
  clock.advance(59_999);
  expect(response.destroyed).toBe(false);
  const over = once(response, 'close').catch(() => undefined);
  response.on('error', () => undefined);
  clock.advance(1);
  await over;
  expect(response.complete).toBe(false);
});
