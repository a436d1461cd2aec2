import type { Schema } from '@svc/contract/schema.ts';
import type { VersionInfo } from '@svc/contract/service.ts';
import { sendJson } from './exchange.ts';
import { toOpenApi } from './open-api.ts';
import type { Route } from './route-table.ts';

type Options = { routes: readonly Route[]; version: VersionInfo; errorSchema?: Schema };

/** The routes by which every process tells what it is: `/version` and `/openapi.json`. */
export function createSelfRoutes({ routes, version, errorSchema }: Options): Route[] {
  const own: Route[] = [
    {
      method: 'GET',
      path: '/version',
      doc: { summary: 'What runs here, since when', reply: versionSchema },
      handle: (exchange) => sendJson(exchange, { status: 200, body: JSON.stringify(version) }),
    },
    {
      method: 'GET',
      path: '/openapi.json',
      doc: { summary: 'This document' },
      handle: (exchange) =>
        sendJson(exchange, {
          status: 200,
          body: JSON.stringify(toOpenApi({ routes: [...routes, ...own], version, errorSchema })),
        }),
    },
  ];
  return own;
}

const text = { type: 'string' } as const;
const versionSchema = {
  type: 'object',
  required: ['service', 'version', 'channel', 'sha', 'started_at', 'node'],
  properties: {
    service: text,
    version: text,
    channel: text,
    sha: text,
    started_at: { type: 'integer', description: 'Epoch ms' },
    node: text,
  },
} as const;
