import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { addressFault, portFault } from '@svc/supervisor/port-owner.ts';
import { hostAddresses } from '../service-urls.ts';
import { addressFix } from '../up/before-start.ts';
import { moveCommand, planMoves } from '../up/move-ports.ts';
import { fine, problem, type Finding } from './finding.ts';

/** Whether the ports that the service needs are free. */
export async function examinePorts(settings: CliSettings): Promise<Finding[]> {
  const noAddress = await addressFault(settings.bindHost);
  if (noAddress !== null) return [problem('address', noAddress, addressFix(settings.bindHost))];
  const addresses = hostAddresses(settings);
  const faults = await Promise.all(addresses.map(({ port }) => portFault(settings.bindHost, port)));
  const unusable = addresses.filter((_address, at) => faults[at] !== null);
  const taken = addresses.map(({ port }) => port);
  const moves = await planMoves(settings.bindHost, unusable, taken);
  return addresses.map(({ name, port, setting }, at) => {
    const fault = faults[at] ?? null;
    if (fault === null) return fine('port', `${port} is free for the ${name}`);
    const move = moves.filter((each) => each.setting === setting);
    return problem('port', `${port} (${name}) ${fault}`, `${moveCommand(move)} ./svc up`);
  });
}
