import type { InstalledPackages, ParentMessage } from '@svc/connector-kit/child-protocol.ts';
import type { InstanceConfig } from '@svc/contract/instance.ts';
import type { ManagerSettings } from '@svc/service-kit/config/process-settings.ts';
import { httpUrl } from '@svc/service-kit/http/http-url.ts';
import type { RunPass } from './run-pass.ts';
import type { SupervisorDeps } from './supervisor-deps.ts';

type About = { instance: InstanceConfig; entry: string; dataDir: string; pass: RunPass; packages: InstalledPackages | null };

const longestBeatMs = 30_000;

/** Within the manager's own deadline, so that it can see its children end. */
export const childStopTimeoutMs = ({ stopTimeoutMs }: ManagerSettings): number => Math.floor(stopTimeoutMs * 0.8);

/** The first message to a connector process, with everything it needs. */
export function createStartMessage({ settings, paths, version }: SupervisorDeps, about: About): ParentMessage {
  const { instance, entry, dataDir, pass, packages } = about;
  return {
    type: 'start',
    instanceId: instance.id,
    instanceName: instance.name,
    connectorType: instance.type,
    entry,
    config: instance.config,
    release: { version: version.version, channel: version.channel, sha: version.sha },
    assistantName: settings.assistantName,
    dataDir,
    coreSocket: paths.coreSocket,
    pass: pass.link.reveal(),
    coreUrl: httpUrl(settings.bindHost, settings.corePort),
    allowedHosts: [settings.bindHost, ...settings.allowedHosts],
    heartbeatMs: Math.min(longestBeatMs, Math.ceil(settings.heartbeatStaleMs / 4)),
    // The connector's own deadline comes first, so that it can stop in its own way.
    stopTimeoutMs: Math.floor(childStopTimeoutMs(settings) * 0.9),
    packages,
    outbound: { token: pass.token.reveal(), proof: pass.proof.reveal() },
  };
}
