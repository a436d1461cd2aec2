import type { Clock } from '@svc/service-kit/clock.ts';
import type { Devices } from '../device/devices.ts';
import type { OpenLinks } from './open-links.ts';

type Deps = {
  devices: Pick<Devices, 'find'>;
  links: Pick<OpenLinks, 'devices' | 'endOutdated'>;
  clock: Clock;
  /** The device of callers without a token; null when they are not admitted. */
  localDevice: string | null;
};

/** How long a stream may outlive its token, ms. */
const lookMs = 2_000;

/**
 * Ends streams whose token has become invalid for any reason: the keys file can be edited by hand, without notice. Returns a function that
 * stops the check.
 */
export function endDeadLinks({ devices, links, clock, localDevice }: Deps): () => void {
  return clock.every(lookMs, () => {
    for (const deviceId of links.devices())
      if (deviceId !== localDevice) links.endOutdated(deviceId, devices.find(deviceId)?.token_sha256 ?? null);
  });
}
