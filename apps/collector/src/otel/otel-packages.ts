import { createRequire } from 'node:module';
import path from 'node:path';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import type * as api from '@opentelemetry/api';
import type * as resources from '@opentelemetry/resources';
import type * as traces from '@opentelemetry/sdk-trace';
import type * as metrics from '@opentelemetry/sdk-metrics';
import type * as traceExporter from '@opentelemetry/exporter-trace-otlp-http';
import type * as metricExporter from '@opentelemetry/exporter-metrics-otlp-http';
import { errorText } from '@svc/service-kit/service-error.ts';
import { programEnv, runProgram } from '../control/run-program.ts';

/** The official libraries, as they are used here. They are not a dependency: they are installed on demand. */
export type OtelPackages = {
  api: typeof api;
  resources: typeof resources;
  traces: typeof traces;
  metrics: typeof metrics;
  traceExporter: typeof traceExporter;
  metricExporter: typeof metricExporter;
};

/** Beside this program (a checkout for developing), else in the data folder. */
export const packageFolders = (dataDir: string): string[] => [import.meta.dirname, path.join(dataDir, 'otel')];

/** The libraries of the first folder that has them all; null when none does. @throws when one is there and broken. */
export function loadOtelPackages(folders: readonly string[]): OtelPackages | null {
  const found = folders.map((folder) => createRequire(path.join(folder, 'any.js'))).find(hasAll);
  if (found === undefined) return null;
  // The casts: each package's own types say what it exports.
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

/** What is installed, to the byte: each package with its version and digest. */
const lockFolder = path.join(import.meta.dirname, '../../otel');
const files = ['package.json', 'package-lock.json'];
const timeoutMs = 5 * 60_000;
const maxBytes = 64 * 1024;

/**
 * Installs the libraries of OpenTelemetry into `folder`: whole, or not at all. Runs no scripts of packages. npm ends when
 * `signal` says so; it stands in our own group of processes, which ends with us.
 * @throws Error with npm's own reason.
 */
export async function installOtelPackages(folder: string, registry: string | null, signal: AbortSignal): Promise<void> {
  const parent = path.dirname(folder);
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(parent)) if (name.startsWith(staged)) rmSync(path.join(parent, name), { recursive: true });
  const staging = path.join(parent, `${staged}${process.pid}`);
  try {
    mkdirSync(staging, { mode: 0o700 });
    for (const file of files) {
      copyFileSync(path.join(lockFolder, file), path.join(staging, file));
      chmodSync(path.join(staging, file), 0o600);
    }
    await runNpm(staging, registry, signal);
    rmSync(folder, { recursive: true, force: true });
    renameSync(staging, folder);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

const staged = '.otel-installing-';

async function runNpm(folder: string, registry: string | null, signal: AbortSignal): Promise<void> {
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--fetch-retries=1', '--loglevel=error'];
  const args = ['ci', '--prefix', folder, ...flags, ...(registry === null ? [] : [`--registry=${registry}`])];
  const options = { env: npmEnv(), cwd: folder, timeoutMs, maxBytes, signal };
  const ran = await runProgram('npm', args, options).catch((error: unknown) => {
    throw new Error(`npm could not be run: ${errorText(error)}`, { cause: error });
  });
  if (ran.code !== 0) throw new Error(`npm did not finish: ${reasonOf(ran.stderr)}`);
}

/** npm's own settings and what it needs to reach a registry; no keys of anybody. */
function npmEnv(): Record<string, string> {
  const isNeeded = (name: string) =>
    /^npm_config_/i.test(name) ||
    /^(https?|no|all)_proxy$/i.test(name) ||
    /^(SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS)$/.test(name);
  const own = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && isNeeded(entry[0]),
  );
  return { ...Object.fromEntries(own), ...programEnv() };
}

const reasonOf = (stderr: string): string =>
  stderr
    .split('\n')
    .flatMap((line) => /^npm (?:error|ERR!) (?!A complete log)(.+)/.exec(line)?.[1] ?? [])
    .slice(0, 3)
    .join('; ') || 'no reason given';
