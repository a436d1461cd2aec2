import type { App } from '@svc/service-kit/http/create-app.ts';
import type { Spend } from './spend.ts';

/** `GET /v2/spend`: what the running period has cost so far, who spent it, and the limits. */
export function mountSpendRoutes(app: App, { spend }: { spend: Spend }): void {
  app.get('/v2/spend', () => spend.report());
}
