import {
  killSchema,
  restartSchema,
  sendKeysSchema,
  stopSchema,
  type ControlActionName,
  type ControlAnswer,
  type ControlAudit,
} from '@svc/contract/control.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { queryInteger } from '@svc/service-kit/http/coerced.ts';
import type { CollectorContext } from '../context.ts';
import { listAudit, runAudited } from './audit.ts';
import { createControl } from './create-control.ts';

const text = (description: string) => ({ type: 'string', maxLength: 1024, description }) as const;
const diffQuery = { type: 'object', required: ['session_id'], properties: { session_id: text('Conversation key') } } as const;
const auditQuery = {
  type: 'object',
  properties: { limit: text('1 to 1000, default 100'), before: text('Epoch ms; only older ones') },
} as const;

/** The control plane (spec: Endpoints, Collector). Each action is recorded in the audit log before it is run. */
export function mountControlRoutes(app: App, context: CollectorContext): void {
  const { controlAuth: onRequest, readAuth, db } = context;
  const control = createControl(context);
  const audited = <T>(
    { actor }: { actor: string },
    action: ControlActionName,
    target: string,
    details: object,
    act: () => Promise<T>,
  ) => {
    return runAudited(context, { actor, action, target, details: { ...details } }, act);
  };
  type Answer = Promise<ControlAnswer>;

  app.post('/api/control/kill', { onRequest, schema: { body: killSchema } }, (request): Answer => {
    const { session_id, hard = false } = request.body;
    return audited(request, 'kill', session_id, { hard }, () => control.kill(session_id, hard));
  });
  app.post('/api/control/stop', { onRequest, schema: { body: stopSchema } }, (request): Answer => {
    const { session_id } = request.body;
    return audited(request, 'stop', session_id, {}, () => control.stop(session_id));
  });
  app.post('/api/control/send-keys', { onRequest, schema: { body: sendKeysSchema } }, (request): Answer => {
    const { session_id, keys, text: typed, enter } = request.body;
    // The typed text is not recorded: it may be a password.
    const details = { keys: keys ?? null, characters: typed?.length ?? 0, enter: enter ?? false };
    return audited(request, 'send-keys', session_id, details, () => control.sendKeys(request.body));
  });
  app.get('/api/control/diff', { onRequest, schema: { querystring: diffQuery } }, (request) => {
    const { session_id } = request.query;
    return audited(request, 'diff', session_id, {}, () => control.diff(session_id));
  });
  app.post('/api/control/restart-daemon', { onRequest, schema: { body: restartSchema } }, (request): Answer => {
    const { target } = request.body;
    return audited(request, 'restart-daemon', target, {}, () => control.restart(target));
  });
  app.get(
    '/api/control/audit',
    { onRequest: readAuth, schema: { querystring: auditQuery } },
    async ({ query }): Promise<ControlAudit> => {
      const before = queryInteger('before', query.before, Number.MAX_SAFE_INTEGER, 0, Number.MAX_SAFE_INTEGER);
      return { actions: await listAudit(db, before, queryInteger('limit', query.limit, 100, 1, 1000)) };
    },
  );
}
