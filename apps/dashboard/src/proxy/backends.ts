import type { DashboardSettings } from '@svc/service-kit/config/process-settings.ts';
import { httpUrl } from '@svc/service-kit/http/http-url.ts';
import { tokenHeaders } from '@svc/service-kit/http/own-tokens.ts';
import type { RemoteUsers } from '@svc/service-kit/http/remote-users.ts';
import type { Secret } from '@svc/service-kit/secret.ts';

/** The processes that the dashboard calls for a signed-in person. */
export const backendNames = ['core', 'manager', 'collector'] as const;
export type BackendName = (typeof backendNames)[number];

export type Backends = {
  urls: Readonly<Record<BackendName, string>>;
  /** The headers of a call for this person: the backend's token and, for backends that record names, the authenticated name. */
  headersFor(backend: BackendName, user: string, path: string): Record<string, string>;
};

/** The collector wants another token for changing and inspecting programs of this machine. */
const isControl = (path: string): boolean => path.startsWith('/api/control/') || path === '/api/otel/install';

export function createBackends(settings: DashboardSettings, remoteUsers: RemoteUsers): Backends {
  const { bindHost } = settings;
  const urls = {
    core: httpUrl(bindHost, settings.corePort),
    manager: httpUrl(bindHost, settings.managerPort),
    collector: httpUrl(bindHost, settings.collectorPort),
  };
  const bearer = (token: Secret | null): Record<string, string> =>
    token === null ? {} : { authorization: `Bearer ${token.reveal()}` };
  return {
    urls,
    headersFor(backend, user, path) {
      // The manager records no names, so it gets none.
      if (backend === 'manager') return bearer(settings.managerToken);
      const named = remoteUsers.headersFor(user);
      if (backend === 'core') return { ...tokenHeaders(urls.core), ...named };
      return { ...bearer(isControl(path) ? settings.insightsControlToken : settings.insightsToken), ...named };
    },
  };
}
