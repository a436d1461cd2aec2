import type { Schema } from '@svc/contract/schema.ts';
import { badRequest, ServiceError } from '@svc/service-kit/service-error.ts';
import type { Exchange } from './exchange.ts';

/** What a route says of itself in `/openapi.json`. The schemas describe; checking is the route's own business. */
export type RouteDoc = {
  summary: string;
  needsKey?: boolean;
  /** Of the JSON body it takes. */
  body?: Schema;
  /** Of the JSON it answers with. */
  reply?: Schema;
};

export type Route = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Fixed segments, the last one possibly `:name`. */
  path: string;
  /** Its part of `/openapi.json`. */
  doc?: RouteDoc;
  handle: (exchange: Exchange) => void | Promise<void>;
};

export type Match = { route: Route; params: Record<string, string> };

const noParams: Record<string, string> = {};

/**
 * Finds the route of a request, in one look-up for fixed paths. Throws `not_found` with status 404, or 405 with `allow`
 * in its details when the path exists for other methods.
 */
export function createRouteTable(routes: readonly Route[]): (method: string, url: string) => Match {
  const paths = new Map<string, Map<string, Route>>();
  for (const route of routes) {
    const key = route.path.replace(/:[^/]+$/, ':');
    const methods = paths.get(key) ?? new Map<string, Route>();
    paths.set(key, methods.set(route.method, route));
  }
  return (method, url) => {
    const end = url.indexOf('?');
    const path = end === -1 ? url : url.slice(0, end);
    const fixed = paths.get(path);
    if (fixed !== undefined) return { route: pick(fixed, method), params: noParams };
    const cut = path.lastIndexOf('/') + 1;
    const open = cut < path.length ? paths.get(`${path.slice(0, cut)}:`) : undefined;
    if (open === undefined) throw unknownPath(method);
    const route = pick(open, method);
    return { route, params: { [paramName(route.path)]: decode(path.slice(cut)) } };
  };
}

function pick(methods: Map<string, Route>, method: string): Route {
  const route = methods.get(method === 'HEAD' ? 'GET' : method);
  if (route !== undefined) return route;
  throw new ServiceError('not_found', `${method} is not served at this path.`, {
    status: 405,
    details: { allow: [...methods.keys()].join(', ') },
  });
}

const paramName = (path: string) => path.slice(path.lastIndexOf(':') + 1);

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw badRequest('The address holds a wrong percent escape.');
  }
}

/** The path itself is not repeated: a caller may have put a key into it. */
const unknownPath = (method: string) =>
  new ServiceError('not_found', `Unknown request URL: nothing is served to ${method} there. Check the path.`);
