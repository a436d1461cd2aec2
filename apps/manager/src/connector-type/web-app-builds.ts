import type { Log } from '@svc/service-kit/log.ts';
import { buildWebApp } from '@svc/service-kit/packages/build-web-app.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { ConnectorType } from './find-types.ts';

/** The web app that some types serve, built from its sources when it is out of date. Concurrent callers share one build. */
export type WebAppBuilds = {
  /** Resolves when the app is built, or could not be. Never rejects: the instance starts without it, and reports that it is missing. */
  ensure(type: ConnectorType): Promise<void>;
};

type Deps = {
  settings: { root: string };
  env: Readonly<Record<string, string | undefined>>;
  registry: string | null;
  log: Pick<Log, 'info' | 'warn'>;
};

export function createWebAppBuilds({ settings: { root }, env, registry, log }: Deps): WebAppBuilds {
  let building: Promise<void> | null = null;

  async function build(): Promise<void> {
    try {
      const result = await buildWebApp({ root, app: 'devices', env, registry, onStep: (words) => log.info(words) });
      if (result === 'built') log.info('the web app of devices is built');
    } catch (error) {
      log.warn({ error: errorText(error) }, 'the web app of devices could not be built');
    }
  }

  return {
    async ensure({ meta, isAdded }) {
      if (meta.webApp !== true || isAdded) return;
      await (building ??= build().finally(() => (building = null)));
    },
  };
}
