import type { App } from '@svc/service-kit/http/create-app.ts';
import type { CoreContext } from '../context.ts';

/** `GET /v2/engines`: what is there, what is used and why. */
export function mountEngineRoutes(app: App, { engines }: Pick<CoreContext, 'engines'>): void {
  app.get('/v2/engines', async () => {
    const described = await engines.describe();
    return { engines: described, current: (await engines.active()).choice };
  });
}
