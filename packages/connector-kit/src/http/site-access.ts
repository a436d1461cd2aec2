import type { IncomingMessage, ServerResponse } from '@svc/service-kit/builtin.ts';
import { createGuard, type Guard } from '@svc/service-kit/http/guard.ts';
import type { Exchange } from './exchange.ts';
import type { Match, Route } from './route-table.ts';

export type SiteAccess = {
  /** True when it has sent the answer itself, which it does for a preflight request. Throws when it refuses the request. */
  answers(exchange: Exchange): boolean;
};

/** Header names as a browser lists them in `access-control-request-headers`. */
const headerList = /^[\w-]+(?:, ?[\w-]+)*$/;
const preflightAgeS = '600';

/**
 * Decides which requests of browsers are served. Every route is closed to other web sites by default. A route's `open` is looked up only
 * for a request that would otherwise be refused; it adds the headers that let the other site's script read the answer.
 */
export function createSiteAccess(allowedHosts: readonly string[], find: (method: string, url: string) => Match): SiteAccess {
  const guard = createGuard(allowedHosts);
  const opened = new Map<Route, Guard>();
  const guardOf = (route: Route): Guard => {
    const known = opened.get(route) ?? createGuard(allowedHosts, route.open);
    opened.set(route, known);
    return known;
  };
  const openRoute = (method: string, url: string): Route | null => {
    try {
      const { route } = find(method, url);
      return route.open === undefined ? null : route;
    } catch {
      return null; // without a route, the answer is the same refusal of other sites
    }
  };

  return {
    answers({ req, res, requestId }) {
      const { method = '', url = '', headers } = req;
      const refusal = guard(headers);
      if (refusal === null) return false;
      const asked = method === 'OPTIONS' ? headers['access-control-request-method'] : undefined;
      const route = openRoute(asked ?? method, url);
      if (route === null || guardOf(route)(headers, asked ?? method) !== null) throw refusal;
      allowOrigin(req, res, route);
      if (asked === undefined) return false;
      res.writeHead(204, { 'x-request-id': requestId, ...preflight(req, route) }).end();
      return true;
    },
  };
}

/** `access-control-allow-credentials` is never sent, because cookies are never needed. */
function allowOrigin({ headers: { origin } }: IncomingMessage, res: ServerResponse, { open }: Route): void {
  const origins = open?.origins ?? [];
  const allowed = origins.includes('*') ? '*' : origins.find((known) => known === origin);
  if (origin === undefined || allowed === undefined) return;
  res.setHeader('access-control-allow-origin', allowed);
  res.setHeader('access-control-expose-headers', '*, www-authenticate');
  res.setHeader('vary', 'origin');
}

function preflight({ headers }: IncomingMessage, { method }: Route): Record<string, string> {
  const wanted = headers['access-control-request-headers'];
  return {
    'access-control-allow-methods': method,
    ...(wanted !== undefined && headerList.test(wanted) && { 'access-control-allow-headers': wanted }),
    'access-control-max-age': preflightAgeS,
  };
}
