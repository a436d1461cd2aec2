import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Env } from '@svc/service-kit/config/env-file.ts';
import type { DashboardSettings } from '@svc/service-kit/config/process-settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { buildWebApp } from '@svc/service-kit/packages/build-web-app.ts';
import { errorText } from '@svc/service-kit/service-error.ts';

export type PagesState = 'ready' | 'building' | 'missing';

/** The built pages, and the state of their build. */
export type Pages = {
  folder: string;
  state(): PagesState;
  /** The current step of the build, for people who wait for the pages. */
  step(): string;
  fault(): string | null;
  /** Builds the pages when they are older than their sources. Never rejects. */
  build(): Promise<void>;
};

type Deps = {
  folder: string;
  /** False: another program builds them. */
  isOwn: boolean;
  settings: Pick<DashboardSettings, 'root' | 'engineRegistry'>;
  env: Env;
  log: Pick<Log, 'info' | 'warn'>;
  signal: AbortSignal;
};

export function createPages({ folder, isOwn, settings: { root, engineRegistry }, env, log, signal }: Deps): Pages {
  let step = 'Building the pages';
  let fault: string | null = null;
  let isBuilding = false;
  const isBuilt = () => existsSync(path.join(folder, 'index.html'));
  const onStep = (words: string) => {
    step = words;
    log.info(words);
  };

  async function build(): Promise<void> {
    if (!isOwn) return;
    isBuilding = true;
    try {
      const result = await buildWebApp({ root, app: 'dashboard', env, registry: engineRegistry, onStep, signal });
      if (result === 'built') log.info('the pages of the dashboard were built');
      fault = null;
    } catch (error) {
      if (signal.aborted) return;
      fault = `The pages of the dashboard could not be built: ${errorText(error)}`;
      log.warn(fault);
    } finally {
      isBuilding = false;
    }
  }

  return {
    folder,
    // The old pages are served until the new ones are built.
    state: () => (isBuilt() ? 'ready' : isBuilding ? 'building' : 'missing'),
    step: () => step,
    fault: () => fault,
    build,
  };
}
