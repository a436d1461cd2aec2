import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { CliError } from '../cli-error.ts';
import { describeOwner, findPortOwner, isPortFree, type PortOwner } from './port-owner.ts';

/** A port that is wanted, by what, and the setting that names it. */
export type WantedPort = { name: string; port: number; setting: string };

type Busy = { address: WantedPort; owner: PortOwner | null };

/** Refuses to begin while a port is taken, naming who has it. */
export async function checkPorts(host: string, addresses: readonly WantedPort[]): Promise<void> {
  const busy = await busyPorts(host, addresses);
  if (busy.length > 0) throw portsInUse(busy);
}

async function busyPorts(host: string, addresses: readonly WantedPort[]): Promise<Busy[]> {
  const free = await Promise.all(addresses.map(({ port }) => isPortFree(host, port)));
  const taken = addresses.filter((_, index) => !free[index]);
  return Promise.all(taken.map(async (address) => ({ address, owner: await findPortOwner(address.port) })));
}

function portsInUse(busy: readonly Busy[]): CliError {
  const lines = busy.map(
    ({ address, owner }) =>
      `Port ${address.port} (${address.name}) is used by ${describeOwner(owner)}. ${address.setting} changes ours.`,
  );
  const pids = busy.flatMap(({ owner }) => owner?.pid ?? []);
  const { address } = busy[0] as Busy;
  return new CliError(busy.length === 1 ? 'a port is in use.' : 'ports are in use.', {
    why: lines.join('\n'),
    run: pids.length > 0 ? `kill ${pids.join(' ')}` : `${address.setting}=${address.port + 1000} ./svc up`,
    exitCode: exitCodes.portInUse,
  });
}
