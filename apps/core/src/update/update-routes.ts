import path from 'node:path';
import type { VersionInfo } from '@svc/contract/service.ts';
import type { UpdateRun, UpdateStatus } from '@svc/contract/update.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { badRequest, conflict } from '@svc/service-kit/service-error.ts';
import { archivesOf, managerOf, onlyReleases } from '@svc/service-kit/update/managed.ts';
import { startUpdater } from '@svc/service-kit/update/start-updater.ts';
import { lastUpdate, readUpdateCheck, runningUpdate } from '@svc/service-kit/update/update-files.ts';
import { installationHome, updatePlaces } from '@svc/service-kit/update/update-places.ts';
import type { EngineRegistry } from '../engine/engine-registry.ts';
import type { Pipeline } from '../turn/pipeline.ts';
import {
  changeUpdateSettings,
  channelOf,
  readUpdateSettings,
  type UpdateChannel,
} from '@svc/service-kit/update/update-settings.ts';

type Deps = {
  settings: Pick<CoreSettings, 'root' | 'updateArchives' | 'updateChannel' | 'updateManaged'>;
  paths: Pick<DataPaths, 'root' | 'logs'>;
  env: Readonly<Record<string, string | undefined>>;
  version: VersionInfo;
  pipeline: Pick<Pipeline, 'holdFor' | 'counts'>;
  engines: Pick<EngineRegistry, 'active'>;
  start?: typeof startUpdater;
};

const channelSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['channel'],
  properties: { channel: { type: 'string', enum: ['stable', 'edge'] } },
} as const;
const autoSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['auto'],
  properties: { auto: { type: 'boolean' } },
} as const;
/** Longer than a person would wait. */
const longestHoldMs = 60_000;
const holdSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['ms'],
  properties: { ms: { type: 'integer', minimum: 1, maximum: longestHoldMs } },
} as const;

/** The versions that are followed, and the start of an update (spec: Versioning). The update itself is `svc update`, in its own process. */
export function mountUpdateRoutes(
  app: App,
  { settings, paths, env, version, pipeline, engines, start = startUpdater }: Deps,
): void {
  const home = installationHome(settings.root);
  const places = updatePlaces(home);
  const manager = () => managerOf(home, settings);
  const channel = () => channelOf(settings.updateChannel, paths.root);

  app.get('/v2/update/channel', () => ({ channel: channel() }));
  app.post<{ Body: { channel: UpdateChannel } }>('/v2/update/channel', { schema: { body: channelSchema } }, ({ body }) => {
    const { updateChannel } = settings;
    if (updateChannel !== null && updateChannel !== body.channel)
      throw conflict(
        `SVC_UPDATE_CHANNEL is set to ${updateChannel}, and the environment takes precedence. Remove it to choose here.`,
      );
    if (body.channel === 'edge' && archivesOf(home, settings.updateArchives) !== null) throw conflict(onlyReleases);
    changeUpdateSettings(paths.root, { channel: body.channel });
    return { channel: channel() };
  });

  app.get('/v2/update/auto', () => ({ auto: readUpdateSettings(paths.root).auto }));
  app.post<{ Body: { auto: boolean } }>('/v2/update/auto', { schema: { body: autoSchema } }, ({ body }) => ({
    auto: changeUpdateSettings(paths.root, { auto: body.auto }).auto,
  }));

  app.get('/v2/update/status', (): UpdateStatus => {
    const who = manager();
    return {
      managed: who !== null,
      manager: who,
      channel: channel(),
      auto: readUpdateSettings(paths.root).auto,
      version: version.version,
      sha: version.sha,
      running: runningUpdate(places),
      last: lastUpdate(places),
      check: readUpdateCheck(paths.root),
    };
  });

  app.post<{ Body: { ms: number } }>('/v2/update/hold', { schema: { body: holdSchema } }, ({ body }) => {
    pipeline.holdFor(body.ms);
    return pipeline.counts();
  });

  app.post<{ Querystring: { mode?: string } }>('/v2/update/run', async ({ query }, reply): Promise<UpdateRun> => {
    const who = manager();
    if (who !== null) return { managed: true, manager: who };
    const agent = query.mode === 'agent';
    if (query.mode !== undefined && !agent)
      throw badRequest(
        'The only mode is "agent": your engine repairs what cannot be installed. Leave it out to run the updater alone.',
      );
    if (runningUpdate(places) !== null) throw conflict('An update is already running.');
    if (agent && (await engines.active()).choice.id === 'offline')
      throw conflict(
        'The engine in use is "offline", which is no model and can repair nothing. Connect one first: ./svc engine.',
      );
    await start({ home, logFile: path.join(paths.logs, 'update.log'), env, agent });
    void reply.code(202);
    return { managed: false, started: true };
  });
}
