import type { RunningConnector, StartContext } from '@svc/connector-kit';
import type { GatewayConfig } from '@svc/device-gateway/config.ts';
import { startGateway } from '@svc/device-gateway/start-gateway.ts';
import { meta } from './meta.ts';

export const start = (ctx: StartContext<GatewayConfig>): Promise<RunningConnector> =>
  startGateway(ctx, { meta, readsNotifications: true });
