import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { CliError } from '../cli-error.ts';
import { portFault } from '@svc/supervisor/port-owner.ts';

/** A port that is wanted, by what, and the setting that names it. */
export type WantedPort = { name: string; port: number; setting: string };

type Unusable = { wanted: WantedPort; fault: string };

/** Refuses to begin while a port cannot be had, naming who has it. */
export async function checkPorts(host: string, ports: readonly WantedPort[]): Promise<void> {
  const faults = await Promise.all(ports.map(({ port }) => portFault(host, port)));
  const unusable = ports.flatMap((wanted, index) => {
    const fault = faults[index] ?? null;
    return fault === null ? [] : [{ wanted, fault }];
  });
  if (unusable.length > 0) throw portsUnusable(unusable);
}

function portsUnusable(unusable: readonly Unusable[]): CliError {
  const lines = unusable.map(
    ({ wanted: { name, port, setting }, fault }) => `Port ${port} (${name}) ${fault}. ${setting} changes ours.`,
  );
  // Another port helps in any case; ending a program that we know nothing of may harm.
  const others = unusable.map(({ wanted: { setting, port } }) => `${setting}=${otherPort(port)}`);
  return new CliError(unusable.length === 1 ? 'a port cannot be used.' : 'ports cannot be used.', {
    why: lines.join('\n'),
    run: `${others.join(' ')} ./svc up`,
    exitCode: exitCodes.portInUse,
  });
}

/** One that any user may have. */
const otherPort = (port: number): number => (port + 1000 > 65_535 ? port - 1000 : Math.max(port, 1024) + 1000);
