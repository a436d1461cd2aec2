import { instanceRulesSchema } from '@svc/contract/instance-rules.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import type { RuleCheck } from './check-rules.ts';
import type { InstanceRulesReader } from './instance-rules.ts';

type Deps = { ruleCheck: Pick<RuleCheck, 'problems'>; instanceRules: Pick<InstanceRulesReader, 'reload'> };

const checkBody = {
  type: 'object',
  required: ['rules'],
  additionalProperties: false,
  properties: { rules: instanceRulesSchema },
} as const;

/** Routes for the manager: it checks an instance's rules before it stores them, and reports that it has. */
export function mountInstanceRoutes(app: App, deps: Deps): void {
  app.post('/v2/instances/check', { schema: { body: checkBody } }, async ({ body }) => ({
    problems: await deps.ruleCheck.problems(body.rules),
  }));
  app.post('/v2/instances/reload', async () => {
    await deps.instanceRules.reload();
    return { ok: true };
  });
}
