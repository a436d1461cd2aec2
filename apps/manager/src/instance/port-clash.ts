import type { ConfigSchema, portElsewhere } from '@svc/contract/connector-meta.ts';
import type { InstanceConfig } from '@svc/contract/instance.ts';
import type { ManagerSettings } from '@svc/service-kit/config/process-settings.ts';
import { runsVault } from '@svc/service-kit/vault/runs-vault.ts';

/** What says which host processes there are, and their ports. */
type HostSettings = Pick<
  ManagerSettings,
  'corePort' | 'managerPort' | 'collectorPort' | 'dashboard' | 'dashboardPort' | 'bindHost' | 'dataDir' | 'vaultPort' | 'vaultUrl'
>;
/** What the fields of a type's config are; undefined for a type that is not there. */
type FieldsOf = (type: string) => ConfigSchema['properties'] | undefined;
type Candidate = Pick<InstanceConfig, 'id' | 'type' | 'config'>;

/** Who has a port that `candidate` wants, as a text for the operator; null when it is free. Instances that are disabled have none. */
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

/** What it listens on: fields called `port` or `…_port` but for those of servers elsewhere. Port 0 means any free one. */
function portsOf({ type, config }: Omit<Candidate, 'id'>, fieldsOf: FieldsOf): { name: string; port: number }[] {
  const fields = fieldsOf(type) ?? {};
  return Object.entries(config).flatMap(([name, port]) => {
    const isOwn = /(^|_)port$/.test(name) && fields[name]?.['portOf'] !== elsewhere;
    return isOwn && typeof port === 'number' && port > 0 ? [{ name, port }] : [];
  });
}
