import type { Schema } from '@svc/contract/schema.ts';
import type { Opening } from '@svc/service-kit/http/guard.ts';
import { badRequest, ServiceError } from '@svc/service-kit/service-error.ts';
import type { BodyStreamLimits } from './body-stream.ts';
import type { Exchange } from './exchange.ts';

/** How a route appears in `/openapi.json`. The schemas only describe it; the route itself checks its input. */
export type RouteDoc = {
  summary: string;
  needsKey?: boolean;
  /** Schema of the JSON body that it accepts. */
  body?: Schema;
  /** Schema of the JSON that it answers with. */
  reply?: Schema;
};

export type Route = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /**
   * Fixed segments; the last one may be `:name`, or `*` for everything that follows. A fixed path takes precedence over one with a name, a
   * named one over a prefix, and a long prefix over a short one.
   */
  path: string;
  /** The route's part of `/openapi.json`. */
  doc?: RouteDoc;
  /** What pages of other web sites may do here. Default: nothing. */
  open?: Opening;
  /** The handler reads the body itself as `exchange.body`, for as long as it takes; other bodies are limited to two minutes. */
  streamsBody?: BodyStreamLimits;
  handle: (exchange: Exchange) => void | Promise<void>;
};

export type Match = { route: Route; params: Record<string, string> };

type Methods = Map<string, Route>;

const noParams: Record<string, string> = {};

/**
 * Finds the route of a request, in one look-up for fixed paths. Throws 404 `not_found`, or 405 with `allow` in its details when the path
 * exists for other methods. The param `*` holds what `*` matched: decoded once, without empty segments, `..`, or escaped slashes.
 */
export function createRouteTable(routes: readonly Route[]): (method: string, url: string) => Match {
  const paths = new Map<string, Methods>();
  const prefixes = new Map<string, Methods>();
  for (const route of routes) {
    const table = route.path.endsWith('/*') ? prefixes : paths;
    const key = route.path.replace(/:[^/]+$/, ':').replace(/\*$/, '');
    table.set(key, (table.get(key) ?? (new Map() as Methods)).set(route.method, route));
  }
  const longestFirst = [...prefixes].toSorted(([a], [b]) => b.length - a.length);

  const findSpecific = (method: string, path: string): Match | null => {
    const fixed = paths.get(path);
    if (fixed !== undefined) return { route: pick(fixed, method), params: noParams };
    const cut = path.lastIndexOf('/') + 1;
    const open = cut < path.length ? paths.get(`${path.slice(0, cut)}:`) : undefined;
    if (open === undefined) return null;
    const route = pick(open, method);
    return { route, params: { [paramName(route.path)]: decode(path.slice(cut)) } };
  };

  const findPrefix = (method: string, path: string): Match => {
    const found = longestFirst.find(([prefix]) => path.startsWith(prefix));
    if (found === undefined) throw unknownPath(method);
    const [prefix, methods] = found;
    const rest = path.slice(prefix.length);
    const plain = decodeRest(rest);
    // The same path in another spelling must not bypass the route that handles it.
    const isDisguised = plain !== rest && plain !== null && isTaken(prefix + plain, prefix);
    if (plain === null || isDisguised) throw unknownPath(method);
    return { route: pick(methods, method), params: { '*': plain } };
  };

  const isTaken = (path: string, by: string): boolean =>
    paths.has(path) ||
    paths.has(`${path.slice(0, path.lastIndexOf('/') + 1)}:`) ||
    longestFirst.find(([prefix]) => path.startsWith(prefix))?.[0] !== by;

  return (method, url) => {
    const end = url.indexOf('?');
    const path = end === -1 ? url : url.slice(0, end);
    return findSpecific(method, path) ?? findPrefix(method, path);
  };
}

function pick(methods: Methods, method: string): Route {
  const route = methods.get(method === 'HEAD' ? 'GET' : method);
  if (route !== undefined) return route;
  throw new ServiceError('not_found', `${method} is not served at this path.`, {
    status: 405,
    details: { allow: [...methods.keys()].join(', ') },
  });
}

const paramName = (path: string) => path.slice(path.lastIndexOf(':') + 1);

/** Null when it names no path below the prefix. A trailing slash is kept. */
function decodeRest(rest: string): string | null {
  const segments = rest.split('/').map(decode);
  const isPlain = (segment: string, index: number) =>
    segment === '' ? index === segments.length - 1 : !/^\.{1,2}$|[/\\\p{Cc}]/u.test(segment);
  return segments.every(isPlain) ? segments.join('/') : null;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw badRequest('The address has an invalid percent escape.');
  }
}

/** Does not repeat the path, into which a caller may have put a key. */
const unknownPath = (method: string) =>
  new ServiceError('not_found', `Unknown route: there is no ${method} at this path. Check the path and the method.`);
