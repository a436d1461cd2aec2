import type { TelemetryEvent } from '@svc/contract/event.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { createLog } from '@svc/service-kit/log.ts';
import type { MaskedJson } from '@svc/service-kit/redaction/outbound-mask.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { readVersion } from '@svc/service-kit/version.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { createCollectorApp } from '../src/app.ts';
import { createCollectorContext, type CollectorOptions } from '../src/context.ts';

/** No core to be asked, and none that is missed. */
const noCore = { json: (json: MaskedJson) => Promise.resolve(json), fault: () => null };

/** A collector in this process: no port, a data folder of its own and a clock that the test moves. */
export function openTestCollector(
  env: Record<string, string> = {},
  onWarning: (text: string) => void = () => undefined,
  more: Partial<CollectorOptions> = {},
) {
  const folder = temporaryFolder();
  const settings = loadSettings(repositoryRoot, {
    SVC_DATA_DIR: folder.path,
    SVC_LOG_LEVEL: 'silent',
    SVC_CORE_PORT: '1',
    ...env,
  });
  const clock = createFakeClock();
  const log = createLog('collector', 'silent');
  log.warn = ((...args: unknown[]) => onWarning(String(args.at(-1)))) as typeof log.warn;
  const version = readVersion(repositoryRoot, 'collector', () => 'stable');
  const context = createCollectorContext({ settings, log, version, clock, coreMask: noCore, ...more });
  const app = createCollectorApp(context);
  context.otel.start();

  const read = async <T>(url: string): Promise<T> => (await app.inject(url)).json<T>();
  return {
    app,
    clock,
    context,
    dataDir: folder.path,
    ingest: async (body: unknown) => {
      const payload = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
      const response = await app.inject({
        method: 'POST',
        url: '/ingest',
        headers: { 'content-type': 'application/json' },
        payload,
      });
      return {
        status: response.statusCode,
        ...response.json<{ ingested: number; rejected: { index: number; error: string }[] }>(),
      };
    },
    events: async (query = '') => (await read<{ events: TelemetryEvent[] }>(`/api/events?${query}`)).events,
    read,
    close: async () => {
      await app.close();
      await context.close();
      folder.remove();
    },
  };
}

export type TestCollector = ReturnType<typeof openTestCollector>;
