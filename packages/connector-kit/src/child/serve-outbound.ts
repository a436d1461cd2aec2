import type { Outbound, StartContext } from '../connector.ts';
import { createConnectorServer } from '../http/create-server.ts';
import { createOutboundRoutes } from '../outbound/outbound-routes.ts';

/** Opens a loopback port for the manager alone. Loaded only by connectors that accept pushes. */
export async function serveOutbound(ctx: StartContext, outbound: Outbound): Promise<{ port: number; stop(): Promise<void> }> {
  const server = createConnectorServer({
    routes: createOutboundRoutes(ctx, outbound),
    version: ctx.version,
    allowedHosts: [],
    log: ctx.log,
  });
  const { port } = await server.listen(0, '127.0.0.1');
  return { port, stop: () => server.stop(ctx.stopTimeoutMs * 0.8) };
}
