import type { App } from '@svc/service-kit/http/create-app.ts';
import type { ConnectorTypes } from './connector-types.ts';

export function mountConnectorTypeRoutes(app: App, { types }: { types: ConnectorTypes }): void {
  app.get('/types', async () => {
    await types.refresh();
    return { types: types.list().map(({ meta }) => meta) };
  });
}
