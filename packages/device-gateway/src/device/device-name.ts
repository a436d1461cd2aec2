import { badRequest } from '@svc/connector-kit';
import { maxDeviceName } from '@svc/contract/device-gateway.ts';

/**
 * Checks a name that a device gets from its owner or chooses itself. The keys file must accept it: an invalid name would lock out all
 * devices.
 * @throws ServiceError `bad_request`
 */
export function deviceName(name: unknown): string {
  const said = typeof name === 'string' ? name.trim() : '';
  if (said !== '' && said.length <= maxDeviceName && said.isWellFormed() && !/\p{Cc}/u.test(said)) return said;
  throw badRequest(`A device name must have 1 to ${maxDeviceName} visible characters.`);
}
