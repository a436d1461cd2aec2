import { readVersion } from '@svc/service-kit/version.ts';
import type { CoreContext, CoreDeps } from '../context.ts';
import { createToolbelt, type Toolbelt } from './toolbelt.ts';

type Deps = Pick<CoreContext, 'settings' | 'knownSecrets' | 'clock' | 'log'> & Pick<CoreDeps, 'env'>;

/** The toolbelt with its real program. Nothing is started yet. */
export function openToolbelt({ settings, env, knownSecrets, clock, log }: Deps): Toolbelt {
  return createToolbelt({
    root: settings.root,
    env,
    coreUrl: `http://${settings.bindHost}:${settings.corePort}`,
    version: readVersion(settings.root, 'toolbelt', settings.updateChannel).version,
    clock,
    log,
    knownSecrets,
    operatorToken: settings.toolbeltToken,
  });
}
