import { openTerminalSchema, type TerminalList } from '@svc/contract/terminal.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { forbidden } from '@svc/service-kit/service-error.ts';
import type { TrustService } from '../trust/trust-service.ts';
import { isOperator } from './is-operator.ts';
import type { Terminals } from './terminals.ts';

type Deps = { terminals: Terminals; trust: Pick<TrustService, 'resolve'> };

const params = { type: 'object', required: ['id'], properties: { id: { type: 'string', maxLength: 128 } } } as const;

/** Routes of terminals. Engines run there with the operator's logins and full rights, so only the operator may use them. */
export function mountTerminalRoutes(app: App, { terminals, trust }: Deps): void {
  const checkActor = async (actor: string): Promise<void> => {
    if (!(await isOperator(trust, actor))) throw forbidden('Terminals are for owners alone.');
  };
  app.post('/v2/terminals', { schema: { body: openTerminalSchema } }, async ({ body, actor }) => {
    await checkActor(actor);
    return terminals.open(body);
  });
  app.get('/v2/terminals', async ({ actor }): Promise<TerminalList> => {
    await checkActor(actor);
    return { terminals: terminals.list() };
  });
  app.get('/v2/terminals/:id', { schema: { params } }, async ({ params: { id }, actor }) => {
    await checkActor(actor);
    return terminals.get(id);
  });
  app.delete('/v2/terminals/:id', { schema: { params } }, async ({ params: { id }, actor }) => {
    await checkActor(actor);
    await terminals.end(id);
    return { ok: true };
  });
}
