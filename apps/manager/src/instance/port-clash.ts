import type { ManagerSettings } from '@svc/service-kit/config/process-settings.ts';
import type { InstanceConfig } from '@svc/contract/instance.ts';

type HostPorts = Pick<ManagerSettings, 'corePort' | 'managerPort' | 'collectorPort'>;

/** Who has a port that `candidate` wants, as a text for the operator; null when it is free. Instances that are disabled have none. */
export function findPortClash(
  candidate: Pick<InstanceConfig, 'id' | 'config'>,
  others: readonly InstanceConfig[],
  hosts: HostPorts,
): string | null {
  const owners = new Map([
    [hosts.corePort, 'the core'],
    [hosts.managerPort, 'the manager'],
    [hosts.collectorPort, 'the collector'],
  ]);
  for (const other of others) {
    if (!other.enabled || other.id === candidate.id) continue;
    for (const port of portsOf(other.config)) owners.set(port, `the instance "${other.id}" (${other.name})`);
  }
  const taken = portsOf(candidate.config).find((port) => owners.has(port));
  return taken === undefined ? null : `Port ${taken} belongs to ${owners.get(taken)}. Choose another port.`;
}

/** Fields called `port` or `…_port`. Port 0 means any free one. */
const portsOf = (config: Record<string, unknown>): number[] =>
  Object.entries(config).flatMap(([name, value]) =>
    /(^|_)port$/.test(name) && typeof value === 'number' && value > 0 ? [value] : [],
  );
