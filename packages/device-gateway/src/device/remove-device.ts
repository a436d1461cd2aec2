import type { OpenLinks } from '../stream/open-links.ts';
import type { DeviceRecord } from './device-record.ts';
import type { Devices } from './devices.ts';
import type { PairingCodes } from './pairing.ts';

/** A part that stores data of devices. */
export type Keeper = { forget(deviceId: string): Promise<void> };

/** Removes a device, for any caller. @throws ServiceError `not_found` */
export type RemoveDevice = (deviceId: string) => Promise<DeviceRecord>;

type Deps = {
  devices: Pick<Devices, 'remove'>;
  codes: Pick<PairingCodes, 'drop'>;
  links: Pick<OpenLinks, 'end'>;
  keepers: Keeper[];
};

/** First invalidates its token and ends its streams, then removes its data. */
export const createRemoveDevice =
  ({ devices, codes, links, keepers }: Deps): RemoveDevice =>
  async (deviceId) => {
    const gone = devices.remove(deviceId);
    codes.drop(deviceId);
    links.end(deviceId);
    await Promise.all(keepers.map((keeper) => keeper.forget(deviceId)));
    return gone;
  };
