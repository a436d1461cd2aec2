import type { OtelView } from '@svc/contract/insights.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { askCollector, tellCollector } from '../service-client.ts';
import { renderOtel } from '../insights/render-insights.ts';
import { repositoryRoot } from '../repository-root.ts';
import { createStyle, print } from '../terminal.ts';

export type OtelAction = 'status' | 'install';
export type OtelOptions = { json?: boolean };

/** npm may have to download some megabytes. */
const installMs = 6 * 60_000;

/** Shows the state of the OpenTelemetry export, or installs its libraries. */
export async function otel(action: OtelAction, { json }: OtelOptions): Promise<number> {
  const settings: CliSettings = loadSettings(repositoryRoot);
  const view =
    action === 'install'
      ? await tellCollector<OtelView>(settings, '/api/otel/install', installMs)
      : await askCollector<OtelView>(settings, '/api/otel');
  print(json === true ? JSON.stringify(view, null, 2) : renderOtel(view, settings.otel, createStyle(process.stdout)));
  return exitCodes.ok;
}
