import { createThrottle, ServiceError, type Exchange } from '@svc/connector-kit';
import { bearerOf } from '@svc/connector-kit/check-key.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { unavailable } from '@svc/service-kit/service-error.ts';
import type { DeviceRecord } from './device-record.ts';
import type { Devices } from './devices.ts';

/**
 * Identifies the device of a request. @throws ServiceError `unauthorized`, `busy` after too many wrong tokens, or `unavailable` while the
 * keys file admits nobody
 */
export type Authenticate = (exchange: Exchange) => DeviceRecord;

export const localDeviceId = 'local';

/** The caller when no token is required. The core decides what it may do. */
export const localDevice: DeviceRecord = {
  device_id: localDeviceId,
  token_sha256: null,
  identity: 'local',
  username: 'local',
  name: 'local',
  platform: null,
  created_at: 0,
  last_seen_at: null,
  allowed: [],
};

/** The minimum length of a device's token: a shorter one is not looked up during a flood of wrong tokens. */
const shortestToken = 32;

/** Reads the token from the `Authorization` header only, because URLs are written to logs. */
export function createAuthenticate(
  devices: Devices,
  { requireToken, clock }: { requireToken: boolean; clock: Clock },
): Authenticate {
  const throttle = createThrottle(clock);
  return ({ req, remote }) => {
    const token = bearerOf(req.headers.authorization);
    if (token === null && !requireToken) return localDevice;
    if (token === null)
      throw new ServiceError('unauthorized', 'Send the token of this device as "Authorization: Bearer <token>".');
    // The token may be valid, and a device that is told otherwise would not reconnect.
    const problem = devices.problem();
    if (problem !== null) throw unavailable(problem);
    const waitS = throttle.attempt(remote);
    const device = waitS > 0 && token.length < shortestToken ? null : devices.byToken(token);
    if (device !== null) {
      throttle.forgive(remote);
      devices.seen(device.device_id);
      return device;
    }
    if (waitS > 0)
      throw new ServiceError('busy', 'Too many requests with a wrong token. Wait before you try again.', {
        details: { retry_after_s: waitS },
      });
    throw new ServiceError(
      'unauthorized',
      'The token of this device is invalid or was revoked. Pair the device again: ./svc device add NAME',
    );
  };
}
