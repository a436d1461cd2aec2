import { cpSync, existsSync } from 'node:fs';
import path from 'node:path';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { createLog } from '@svc/service-kit/log.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import { loadSettings, type Settings } from '@svc/service-kit/config/settings.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createMemoryTelemetry, type MemoryTelemetry } from '@svc/testing/memory-telemetry.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { createManagerApp } from '../src/app.ts';
import { createManagerContext, type ManagerContext, type ManagerOptions } from '../src/context.ts';
import { createFakeSupervisor } from './fake-supervisor.ts';

export const fixtures = path.join(import.meta.dirname, 'fixtures');
// One for all: each opens its own way to stdout and closes it at exit.
export const log = createLog('manager', 'silent');
export const version = {
  service: 'manager',
  version: '0.0.0',
  channel: 'stable',
  sha: 'none',
  started_at: 0,
  node: process.versions.node,
};

type Reply = { status: number; body: Record<string, unknown> };

export type OpenManager = {
  app: App;
  context: ManagerContext;
  telemetry: MemoryTelemetry;
  dataDir: string;
  call(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    url: string,
    payload?: object,
    headers?: Record<string, string>,
  ): Promise<Reply>;
  close(): Promise<void>;
};

export const testSettings = (dataDir: string, env: Record<string, string> = {}): Settings =>
  loadSettings(path.join(fixtures, 'house'), {
    SVC_DATA_DIR: dataDir,
    SVC_LOG_LEVEL: 'silent',
    SVC_STOP_TIMEOUT_MS: '3000',
    ...env,
  });

/** The manager without a port of its own: requests are injected, time and processes are fakes unless given. */
export const openManager = (env: Record<string, string> = {}, options: Partial<ManagerOptions> = {}) =>
  openWith(env, { supervisor: createFakeSupervisor(), clock: createFakeClock(), ...options });

/** The same with real time and real child processes, which run `fixtures/child-main.ts`. */
export const openRealManager = (env: Record<string, string> = {}) =>
  openWith(env, { childEntry: path.join(fixtures, 'child-main.ts') });

/** The same with children that run the kit and their type's own code. */
export const openKitManager = (env: Record<string, string> = {}) => openWith(env, {});

/** Gives an added type the kit as it was compiled for the type `postbox`, if it was: compiling it again takes longer than such a test. */
export function giveCompiledKit(dataDir: string, type: string): void {
  const from = path.join(process.env['NODE_COMPILE_CACHE'] ?? '', 'connectors/postbox');
  const to = path.join(dataPaths(dataDir).cache, 'connectors', type);
  // Without the mark that all is compiled.
  if (existsSync(from)) cpSync(from, to, { recursive: true, filter: (file) => path.basename(file) !== 'compiled' });
}

async function openWith(env: Record<string, string>, options: Partial<ManagerOptions>): Promise<OpenManager> {
  const folder = temporaryFolder();
  const telemetry = createMemoryTelemetry();
  const settings = testSettings(folder.path, env);
  const context = await createManagerContext({ settings, log, version, telemetry, ...options });
  const app = createManagerApp(context);
  return {
    app,
    context,
    telemetry,
    dataDir: settings.dataDir,
    async call(method, url, payload, headers) {
      const response = await app.inject({ method, url, payload, headers: { host: '127.0.0.1', ...headers } });
      return { status: response.statusCode, body: response.json() };
    },
    async close() {
      await context.supervisor.stopAll();
      await app.close();
      await context.close();
      folder.remove();
    },
  };
}
