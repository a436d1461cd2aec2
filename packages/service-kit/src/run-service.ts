import { flushCompileCache } from 'node:module';
import path from 'node:path';
import type { VersionInfo } from '@svc/contract/service.ts';
import { exitCodes } from './exit-codes.ts';
import { systemClock } from './clock.ts';
import { takeEnv, unreadEnvLines, readEnv } from './config/env-file.ts';
import { httpUrl } from './http/http-url.ts';
import { createRemoteUsers, userProofVariable, type RemoteUsers } from './http/remote-users.ts';
import { useToken } from './http/own-tokens.ts';
import { createLog, maskLogLines, type Log } from './log.ts';
import { openServiceSecrets } from './redaction/service-secrets.ts';
import { SettingsError } from './config/setting.ts';
import { standBy } from './stand-by.ts';
import { loadSettings, unknownSettings, type Settings } from './config/settings.ts';
import { channelOf } from './update/update-settings.ts';
import { readVersion } from './version.ts';

/** The repository's root, three folders above this file. */
export const repositoryRoot = path.resolve(import.meta.dirname, '../../..');

export type ServiceContext = { settings: Settings; log: Log; version: VersionInfo; remoteUsers?: RemoteUsers };
export type RunningService = { url: string; port: number; stop: () => Promise<void> };

type Start = (context: ServiceContext) => Promise<RunningService>;
/** Preparation in a process that is started ahead of time, while another still runs: it must not affect that one, and never rejects. */
type WarmUp = (context: ServiceContext) => Promise<void>;

/** By then everything that a start needs is loaded. */
const compileCacheMs = 5000;

/**
 * The life of one host process: settings, start, "ready" to the parent, stop on a signal or when the parent has ended.
 * Stopping has a deadline, after which the process exits anyway, because a supervisor waits for it.
 */
export async function runService(name: string, start: Start, warmUp: WarmUp = async () => undefined): Promise<void> {
  const context = openContext(name);
  const { log, settings } = context;
  await standBy(() => warmUp(context));
  let running: RunningService;
  try {
    running = await start(context);
  } catch (error) {
    log.fatal({ err: error }, `${name} could not start: ${(error as Error).message}`);
    process.exit((error as NodeJS.ErrnoException).code === 'EADDRINUSE' ? exitCodes.portInUse : exitCodes.failed);
  }
  let stopping = false;
  const stop = async (why: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ why }, 'stopping');
    setTimeout(() => {
      log.fatal('did not stop in time; ending now');
      process.exit(exitCodes.failed);
    }, settings.stopTimeoutMs).unref();
    await running.stop();
    process.exit(exitCodes.ok);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal));
  process.on('disconnect', () => void stop('the parent process has ended'));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught fault');
    process.exit(exitCodes.failed);
  });
  // Node would write it when the process exits, and whoever waits for the exit would then wait for the disk.
  setTimeout(flushCompileCache, compileCacheMs).unref();
  log.info({ url: running.url }, `${name} is ready`);
  process.send?.({ type: 'ready', url: running.url, port: running.port });
}

function openContext(name: string): ServiceContext {
  try {
    const remoteUsers = createRemoteUsers(takeEnv(userProofVariable));
    const env = readEnv(repositoryRoot);
    const settings = loadSettings(repositoryRoot, env);
    // Used until the service masks its log with its own list, which knows more secrets and reports faults.
    maskLogLines(openServiceSecrets({ settings, env, clock: systemClock, warn: () => undefined }).line);
    useToken(httpUrl(settings.bindHost, settings.corePort), settings.coreToken);
    const log = createLog(name, settings.logLevel);
    for (const unknown of unknownSettings(env)) log.warn(`${unknown} is not a setting of this service; see .env.example.`);
    for (const fault of unreadEnvLines(repositoryRoot)) log.warn(fault);
    return {
      settings,
      log,
      version: readVersion(repositoryRoot, name, () => channelOf(settings.updateChannel, settings.dataDir)),
      remoteUsers,
    };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(exitCodes.badSettings);
  }
}
