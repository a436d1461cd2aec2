import {
  checkKey,
  createConnectorServer,
  createThrottle,
  singleKeyAuth,
  systemClock,
  type Exchange,
  type RunningConnector,
  type StartContext,
} from '@svc/connector-kit';
import type { Config } from './meta.ts';
import { postOut } from './post-out.ts';
import { createRoutes } from './routes.ts';

/** Opens the channel. What it throws is shown to the operator, so it says what is wrong and what to do. */
export async function start(ctx: StartContext<Config>): Promise<RunningConnector> {
  const { config } = ctx;
  const token = singleKeyAuth(await ctx.secrets.get(config.token_secret_key), { identity: 'caller', username: 'Caller' });
  const throttle = createThrottle(systemClock);
  const server = createConnectorServer({
    routes: createRoutes(ctx, (exchange: Exchange) => void checkKey(exchange, token, throttle)),
    version: ctx.version,
    allowedHosts: ctx.allowedHosts,
    renderError: (error, { requestId }) => ({ status: error.status, body: JSON.stringify(error.toBody(requestId)) }),
    log: ctx.log,
  });
  const { port, url } = await server.listen(config.port, '127.0.0.1');
  return {
    port,
    url,
    stop: () => server.stop(ctx.stopTimeoutMs * 0.8),
    health: () => ({ healthy: true }),
    send: (message, signal) => postOut(config.callback_url, message, signal),
  };
}
