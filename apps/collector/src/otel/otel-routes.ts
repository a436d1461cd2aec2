import type { OtelView } from '@svc/contract/insights.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { conflict, errorText, upstream } from '@svc/service-kit/service-error.ts';
import type { CollectorContext } from '../context.ts';

type Deps = Pick<CollectorContext, 'readAuth' | 'controlAuth' | 'otel'>;

/** The state of the OpenTelemetry export, and the command that installs its libraries. */
export function mountOtelRoutes(app: App, { readAuth, controlAuth, otel }: Deps): void {
  app.get('/api/otel', { onRequest: readAuth }, (): OtelView => otel.view());
  app.post('/api/otel/install', { onRequest: controlAuth }, async (): Promise<OtelView> => {
    if (otel.view().state === 'off')
      throw conflict('OpenTelemetry export has no destination. Set OTEL_EXPORTER_OTLP_ENDPOINT in .env and restart the service.');
    await otel.install().catch((error: unknown) => {
      throw upstream(`The libraries could not be installed: ${errorText(error)}`, error);
    });
    return otel.view();
  });
}
