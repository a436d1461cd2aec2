import type { OpenLinks } from '../stream/open-links.ts';
import type { DeviceRecord } from './device-record.ts';
import type { Devices } from './devices.ts';
import type { PairingCodes } from './pairing.ts';

/** What keeps something of a device. */
export type Keeper = { forget(deviceId: string): Promise<void> };

/** Ends a device, for any caller. @throws ServiceError `not_found` */
export type RemoveDevice = (deviceId: string) => Promise<DeviceRecord>;

type Deps = {
  devices: Pick<Devices, 'remove'>;
  codes: Pick<PairingCodes, 'drop'>;
  links: Pick<OpenLinks, 'end'>;
  keepers: Keeper[];
};

/** Its token is worth nothing from the first line on, and what it reads ends. Then goes what was kept for it. */
export const createRemoveDevice =
  ({ devices, codes, links, keepers }: Deps): RemoveDevice =>
  async (deviceId) => {
    const gone = devices.remove(deviceId);
    codes.drop(deviceId);
    links.end(deviceId);
    await Promise.all(keepers.map((keeper) => keeper.forget(deviceId)));
    return gone;
  };
