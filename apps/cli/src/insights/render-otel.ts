import type { OtelView } from '@svc/contract/insights.ts';
import type { OtelSettings } from '@svc/service-kit/config/settings.ts';
import { visibleLine, type Style } from '../terminal.ts';

/** How the export stands, and the one thing to do about it. */
export function renderOtel(
  { state, error, exported, failed, dropped, waiting }: OtelView,
  settings: OtelSettings,
  style: Style,
): string {
  if (state === 'off') {
    const isSet = settings.tracesUrl !== null || settings.metricsUrl !== null;
    return isSet
      ? 'OpenTelemetry is set up, but the service was started before that. Restart it: ./svc up'
      : 'OpenTelemetry is off. Set OTEL_EXPORTER_OTLP_ENDPOINT in .env and restart the service.';
  }
  if (state === 'installing') return 'The OpenTelemetry libraries are being installed.';
  const why = error === null ? [] : [`  ${style.yellow(visibleLine(error))}`];
  if (state === 'missing')
    return ['The OpenTelemetry libraries are missing. Install them: ./svc otel install', ...why].join('\n');
  return [
    `OpenTelemetry: traces ${settings.tracesUrl ?? 'no'}, metrics ${settings.metricsUrl ?? 'no'}`,
    `  ${exported} spans sent, ${waiting} wait, ${failed} refused, ${dropped} dropped`,
    ...why,
  ].join('\n');
}
