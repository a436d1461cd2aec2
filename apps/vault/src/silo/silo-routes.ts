import { vaultNamePattern } from '@svc/contract/vault.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { bearerOf } from '@svc/service-kit/http/bearer-auth.ts';
import type { VaultContext } from '../context.ts';

const silo = { type: 'string', pattern: vaultNamePattern } as const;
const text = { type: 'string', minLength: 1, maxLength: 1024 } as const;
const body = (...more: string[]) => ({
  type: 'object' as const,
  required: ['silo', ...more],
  additionalProperties: false as const,
  properties: { silo, ...Object.fromEntries(more.map((name) => [name, text])) },
});

type Body<P extends string> = { silo: string } & Record<P, string>;

/** For agents of the tier SACRED. The vault stores none of these keys; the key that wraps them never leaves it. */
export function mountSiloRoutes(app: App, { agents, siloKeys }: Pick<VaultContext, 'agents' | 'siloKeys'>): void {
  app.post<{ Body: Body<never> }>('/v1/silos/generate', { schema: { body: body() } }, async (request) =>
    siloKeys.generate(await agents.authenticate(bearerOf(request.headers.authorization)), request.body.silo),
  );
  app.post<{ Body: Body<'key'> }>('/v1/silos/wrap', { schema: { body: body('key') } }, async (request) =>
    siloKeys.wrap(await agents.authenticate(bearerOf(request.headers.authorization)), request.body.silo, request.body.key),
  );
  app.post<{ Body: Body<'wrapped'> }>('/v1/silos/unwrap', { schema: { body: body('wrapped') } }, async (request) =>
    siloKeys.unwrap(await agents.authenticate(bearerOf(request.headers.authorization)), request.body.silo, request.body.wrapped),
  );
}
