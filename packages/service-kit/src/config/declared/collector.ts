import { setting } from '../setting.ts';
import { baseUrl, daysByKind, integer, oneOf, port, token, trueOrFalse, url } from '../setting-types.ts';

/** Settings: the collector and its exports. */
export const collectorSettings = {
  collectorPort: setting('SVC_COLLECTOR_PORT', port(), { text: 'Port of the collector.', default: '3017' }),
  insightsToken: setting('SVC_INSIGHTS_TOKEN', token(), {
    text: 'Bearer token of reads and ingest. Unset: open, with a warning.',
  }),
  insightsControlToken: setting('SVC_INSIGHTS_CONTROL_TOKEN', token(), {
    text: 'Bearer token of control routes. Unset: open, with a warning.',
  }),
  retentionDays: setting('SVC_RETENTION_DAYS', integer(0, 36_500), {
    text: 'How long events are kept; usage sums stay. 0: forever.',
    default: '365',
  }),
  /** Days by kind of event, if different; 0 is for ever. */
  retentionDaysByKind: setting('SVC_RETENTION_DAYS_BY_KIND', daysByKind(), {
    text: 'Other days for some kinds, such as thinking=14,tool_result=30,system-sample=7. 0: forever.',
    default: 'system-sample=14',
  }),
  transcripts: setting('SVC_TRANSCRIPTS', oneOf(['follow', 'list', 'off']), {
    text: 'Transcripts that your engines keep: follow (sessions are listed, and their content is stored), list (only listed) or off.',
    default: 'follow',
  }),
  /** The variables of OpenTelemetry's specification. */
  otlp: {
    baseUrl: setting('OTEL_EXPORTER_OTLP_ENDPOINT', baseUrl(), {
      text: 'Where traces of turns and metrics are sent by OTLP over HTTP, such as http://127.0.0.1:4318. Unset: nowhere. Headers and other options: docs/insights.md.',
    }),
    tracesUrl: setting('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', url(), { text: 'The full address for traces only.' }),
    metricsUrl: setting('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', url(), { text: 'The full address for metrics only.' }),
    traces: setting('OTEL_TRACES_EXPORTER', oneOf(['otlp', 'none']), { text: 'otlp, or none for no traces.', default: 'otlp' }),
    metrics: setting('OTEL_METRICS_EXPORTER', oneOf(['otlp', 'none']), {
      text: 'otlp, or none for no metrics.',
      default: 'otlp',
    }),
    metricsEveryMs: setting('OTEL_METRIC_EXPORT_INTERVAL', integer(100, 86_400_000), {
      text: 'How often metrics are sent, in ms.',
      default: '60000',
    }),
    isOff: setting('OTEL_SDK_DISABLED', trueOrFalse(), {
      text: 'true: nothing is sent, whatever the other settings are.',
      default: 'false',
    }),
  },
};
