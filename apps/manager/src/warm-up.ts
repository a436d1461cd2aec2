import path from 'node:path';
import { readEnv } from '@svc/service-kit/config/env-file.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { ManagerSettings } from '@svc/service-kit/config/process-settings.ts';
import type { ServiceContext } from '@svc/service-kit/run-service.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { leanNode } from '@svc/supervisor/child-spec.ts';
import { findTypes, type ConnectorType } from './connector-type/find-types.ts';
import { kitEntry } from './context.ts';
import { enabledInstances } from './instance/enabled-instances.ts';
import { createCompileCache } from './supervisor/compile-cache.ts';
import { confine } from './supervisor/confine.ts';

/**
 * What a manager can do while it waits for its predecessor to stop: it loads the descriptions of the connector types, and compiles the code of those
 * that will be started. It only reads the database, which the other still uses, and writes only its own cache. Never rejects: without it a start is
 * only slower.
 */
export async function warmUp(service: ServiceContext): Promise<void> {
  try {
    await compileEnabled(service);
  } catch (error) {
    service.log.warn({ fault: errorText(error) }, 'the preparation of the start failed, so the start takes longer');
  }
}

async function compileEnabled({ settings: all, log, version }: ServiceContext): Promise<void> {
  const settings: ManagerSettings = all;
  const paths = dataPaths(settings.dataDir);
  const { types } = await findTypes(path.join(settings.root, 'connectors'), paths.connectors);
  const compileCache = createCompileCache({ version, log });
  const deps = { settings, paths, env: readEnv(settings.root), childEntry: kitEntry(), log };
  for (const { id, type, config } of enabledInstances(paths.managerDb)) {
    const found = types.find(({ meta }) => meta.type === type);
    if (found === undefined || !canCompile(found)) continue;
    const dataDir = path.join(paths.instances, id);
    const { flags, env } = confine(deps, { type: found, config, dataDir });
    await compileCache.fill(found, { execArgv: [...leanNode, ...flags], env, cwd: dataDir });
  }
}

/** Added types still link to the kit of the version that runs. */
const canCompile = ({ isAdded }: ConnectorType): boolean => !isAdded;
