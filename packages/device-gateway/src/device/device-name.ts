import { badRequest } from '@svc/connector-kit';
import { maxDeviceName } from '@svc/contract/device-gateway.ts';

/**
 * A name that a device is given, by its owner or by itself: one that the keys file takes, or that would keep all devices out.
 * @throws ServiceError `bad_request`.
 */
export function deviceName(name: unknown): string {
  const said = typeof name === 'string' ? name.trim() : '';
  if (said !== '' && said.length <= maxDeviceName && said.isWellFormed() && !/\p{Cc}/u.test(said)) return said;
  throw badRequest(`A device name must have 1 to ${maxDeviceName} visible characters.`);
}
