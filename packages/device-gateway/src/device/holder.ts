import { ServiceError, type Identity } from '@svc/connector-kit';
import { askerOf, ownKey, type Gateway } from '../gateway.ts';
import type { DeviceRecord } from './device-record.ts';

type Place = Pick<Gateway, 'ctx' | 'meta'>;

/** The holder of a device, as the core identifies them now. */
export const holderOf = (gateway: Place, device: DeviceRecord): Promise<Identity> =>
  gateway.ctx.core.resolve({ ...askerOf(gateway, device), conversation_key: ownKey(gateway, device) });

/**
 * For requests that do not reach the core themselves: a device keeps its token when its person loses access.
 * @throws ServiceError `no_access` when the device's person may not use the assistant
 */
export async function admit(gateway: Place, device: DeviceRecord): Promise<void> {
  if ((await holderOf(gateway, device)).denied) throw noAccess();
}

export const noAccess = () =>
  new ServiceError(
    'no_access',
    'This device is paired, but its person is unknown or has no access. Link it to a person: ./svc person link',
  );
