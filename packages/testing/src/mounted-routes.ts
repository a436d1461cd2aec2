import diagnostics from 'node:diagnostics_channel';
import { Ajv } from 'ajv';

export type MountedRoute = { method: string | string[]; url: string; schema?: Readonly<Record<string, unknown>> };
type Server = { addHook(name: 'onRoute', note: (route: MountedRoute) => void): void };

/** Every route that is mounted while `work` runs, also those that the OpenAPI document does not show. */
export async function mountedRoutes(work: () => Promise<void>): Promise<MountedRoute[]> {
  const routes: MountedRoute[] = [];
  const watch = (message: unknown) =>
    (message as { fastify: Server }).fastify.addHook('onRoute', (route) => void routes.push(route));
  diagnostics.subscribe('fastify.initialization', watch);
  try {
    await work();
  } finally {
    diagnostics.unsubscribe('fastify.initialization', watch);
  }
  return routes;
}

const places = ['body', 'querystring', 'params', 'headers'];

/** The invalid schemas of these routes, with the errors. A running service does not check its own. */
export function schemaProblems(routes: readonly MountedRoute[]): string[] {
  const ajv = new Ajv({ strict: false, logger: false });
  return routes.flatMap(({ method, url, schema = {} }) => {
    const answers = Object.entries((schema['response'] ?? {}) as Record<string, unknown>);
    return [...places.map((place) => [place, schema[place]] as const), ...answers].flatMap(([place, given]) =>
      given === undefined || ajv.validateSchema(given as object)
        ? []
        : [`${String(method)} ${url} ${place}: ${ajv.errorsText()}`],
    );
  });
}
