import { createRequire } from 'node:module';
import path from 'node:path';
import type * as api from '@opentelemetry/api';
import type * as resources from '@opentelemetry/resources';
import type * as traces from '@opentelemetry/sdk-trace';
import type * as metrics from '@opentelemetry/sdk-metrics';
import type * as traceExporter from '@opentelemetry/exporter-trace-otlp-http';
import type * as metricExporter from '@opentelemetry/exporter-metrics-otlp-http';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { installPackages } from '@svc/service-kit/packages/install-packages.ts';

/** The official libraries that are used here. They are no dependency, but are installed on demand. */
export type OtelPackages = {
  api: typeof api;
  resources: typeof resources;
  traces: typeof traces;
  metrics: typeof metrics;
  traceExporter: typeof traceExporter;
  metricExporter: typeof metricExporter;
};

/** Beside this program (a checkout for developing), else in the data folder. */
export const packageFolders = (dataDir: string): string[] => [import.meta.dirname, dataPaths(dataDir).otel];

/** The libraries of the first folder that has all of them; null if none does. @throws when one is broken. */
export function loadOtelPackages(folders: readonly string[]): OtelPackages | null {
  const found = folders.map((folder) => createRequire(path.join(folder, 'any.js'))).find(hasAll);
  if (found === undefined) return null;
  // The casts: the packages' own types.
  return {
    api: found('@opentelemetry/api') as OtelPackages['api'],
    resources: found('@opentelemetry/resources') as OtelPackages['resources'],
    traces: found('@opentelemetry/sdk-trace') as OtelPackages['traces'],
    metrics: found('@opentelemetry/sdk-metrics') as OtelPackages['metrics'],
    traceExporter: found('@opentelemetry/exporter-trace-otlp-http') as OtelPackages['traceExporter'],
    metricExporter: found('@opentelemetry/exporter-metrics-otlp-http') as OtelPackages['metricExporter'],
  };
}

const names = ['api', 'resources', 'sdk-trace', 'sdk-metrics', 'exporter-trace-otlp-http', 'exporter-metrics-otlp-http'];

function hasAll(from: NodeJS.Require): boolean {
  try {
    for (const name of names) from.resolve(`@opentelemetry/${name}`);
    return true;
  } catch {
    return false; // one is missing here
  }
}

const lockFolder = path.join(import.meta.dirname, '../../otel');

/** Installs the libraries of OpenTelemetry into `folder`. @throws Error with npm's own reason. */
export const installOtelPackages = (folder: string, registry: string | null, signal: AbortSignal): Promise<void> =>
  installPackages({ lockFolder, folder, registry, env: process.env, signal });
