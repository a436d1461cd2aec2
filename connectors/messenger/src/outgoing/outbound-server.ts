import {
  createConnectorServer,
  createOutboundRoutes,
  createSendRoutes,
  type ConnectorServer,
  type SendRoutesDeps,
  type StartContext,
} from '@svc/connector-kit';
import { placeOf } from './write-params.ts';

type Context = Pick<StartContext, 'outboundAccess' | 'dataDir' | 'log' | 'signal' | 'version' | 'uploads' | 'stopTimeoutMs'>;

export type OutboundServerDeps = Pick<SendRoutesDeps, 'send' | 'key' | 'checkTarget' | 'keyOf' | 'maxFileBytes'>;

/** `/out` and the other routes of the manager, and `/send`, `/send-photo` and `/send-document` for programs on this machine. */
export function createOutboundServer(ctx: Context, deps: OutboundServerDeps): ConnectorServer {
  return createConnectorServer({
    routes: [...createOutboundRoutes(ctx, { send: deps.send }), ...createSendRoutes(ctx, { ...deps, place, files })],
    version: ctx.version,
    allowedHosts: [],
    log: ctx.log,
  });
}

const files = [
  { path: '/send-photo', kind: 'photo', what: 'a picture' },
  { path: '/send-document', kind: 'document', what: 'a file' },
] as const;

const place: SendRoutesDeps['place'] = {
  fields: {
    chat_id: { type: ['integer', 'string'], description: 'A number, or the @name of a public group.' },
    topic_id: { type: 'integer', description: 'A topic of the group.' },
  },
  required: ['chat_id'],
  toTarget({ chat_id: chat, topic_id: topic }) {
    const target = [chat, topic].filter((each) => each !== undefined && each !== null).join(':');
    placeOf(target);
    return target;
  },
};
