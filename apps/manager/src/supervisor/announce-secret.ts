import type { Settings } from '@svc/service-kit/config/settings.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText } from '@svc/service-kit/service-error.ts';

type Deps = { settings: Pick<Settings, 'bindHost' | 'corePort'>; log: Pick<Log, 'info' | 'warn'> };

/** A connector waits 10 s for its secret. */
const timeoutMs = 4_000;

/**
 * Tells the core the name of a secret that a connector is about to get, so that no reply tells its value. Never rejects: a
 * core that is away says nothing to anybody, and asks for the names when it is back.
 */
export function createSecretAnnouncer({ settings: { bindHost, corePort }, log }: Deps): (name: string) => Promise<void> {
  const url = `http://${bindHost}:${corePort}/v2/secrets/learn`;
  return async (name) => {
    try {
      const { status } = await requestJson(url, { body: { name }, timeoutMs });
      if (status !== 200) log.warn({ secret: name, status }, 'the core does not mask a secret that a connector gets');
    } catch (error) {
      log.info({ secret: name, why: errorText(error) }, 'the core asks for the names of secrets when it is back');
    }
  };
}
