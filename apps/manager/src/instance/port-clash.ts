import type { ConfigSchema, portElsewhere } from '@svc/contract/connector-meta.ts';
import type { InstanceConfig } from '@svc/contract/instance.ts';
import type { ManagerSettings } from '@svc/service-kit/config/process-settings.ts';
import { runsVault } from '@svc/service-kit/vault/runs-vault.ts';

/** The settings that decide which host processes run, and on which ports. */
type HostSettings = Pick<
  ManagerSettings,
  'corePort' | 'managerPort' | 'collectorPort' | 'dashboard' | 'dashboardPort' | 'bindHost' | 'dataDir' | 'vaultPort' | 'vaultUrl'
>;
/** The config fields of a type; undefined for a type that is not installed. */
type FieldsOf = (type: string) => ConfigSchema['properties'] | undefined;
type Candidate = Pick<InstanceConfig, 'id' | 'type' | 'config'>;

/** A text for the operator that names the owner of a port that `candidate` wants; null if all are free. Disabled instances own no ports. */
export function findPortClash(
  candidate: Candidate,
  others: readonly InstanceConfig[],
  { hosts, fieldsOf }: { hosts: HostSettings; fieldsOf: FieldsOf },
): string | null {
  const owners = hostPorts(hosts);
  for (const other of others) {
    if (!other.enabled || other.id === candidate.id) continue;
    for (const { port } of portsOf(other, fieldsOf)) owners.set(port, `the instance "${other.id}" (${other.name})`);
  }
  for (const { name, port } of portsOf(candidate, fieldsOf)) {
    if (owners.has(port)) return `Port ${port} belongs to ${owners.get(port)}. Choose another port.`;
    owners.set(port, `${name} of the same instance`);
  }
  return null;
}

const hostPorts = (settings: HostSettings): Map<number, string> =>
  new Map([
    [settings.corePort, 'the core'],
    [settings.managerPort, 'the manager'],
    [settings.collectorPort, 'the collector'],
    ...(settings.dashboard === 'on' ? [[settings.dashboardPort, 'the dashboard'] as const] : []),
    ...(runsVault(settings) ? [[settings.vaultPort, 'the vault'] as const] : []),
  ]);

const elsewhere: (typeof portElsewhere)['portOf'] = 'server';

/** The ports an instance listens on: fields called `port` or `…_port`, except those of servers elsewhere. Port 0 means any free one. */
function portsOf({ type, config }: Omit<Candidate, 'id'>, fieldsOf: FieldsOf): { name: string; port: number }[] {
  const fields = fieldsOf(type) ?? {};
  return Object.entries(config).flatMap(([name, port]) => {
    const isOwn = /(^|_)port$/.test(name) && fields[name]?.['portOf'] !== elsewhere;
    return isOwn && typeof port === 'number' && port > 0 ? [{ name, port }] : [];
  });
}
