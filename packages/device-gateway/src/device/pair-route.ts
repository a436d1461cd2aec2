import { createThrottle, forbidden, sendJson, ServiceError, type Exchange, type Route } from '@svc/connector-kit';
import { pairSchema, type Paired, type PairRequest } from '@svc/contract/device-gateway.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { unavailable } from '@svc/service-kit/service-error.ts';
import type { ReadBody } from '../http/read-body.ts';
import type { Devices } from './devices.ts';
import type { PairingCodes } from './pairing.ts';

type Deps = {
  devices: Devices;
  codes: PairingCodes;
  readBody: ReadBody;
  clock: Clock;
  assistant: string;
  instanceId: string;
  onPaired(deviceId: string): void;
};

/**
 * `POST /gw/pair`: the only call without a token. The answer to a wrong code is the same as to a used or expired one. A valid code is
 * accepted however many wrong ones came before: it cannot be guessed, and behind a proxy all callers share an address. It is used up only
 * once the device is stored, so a keys file that cannot be read or written costs no code.
 */
export function createPairRoute({ devices, codes, readBody, clock, assistant, instanceId, onPaired }: Deps): Route {
  const throttle = createThrottle(clock);
  const handle = async (exchange: Exchange): Promise<void> => {
    const { code, platform = null } = await readBody<PairRequest>(exchange, pairSchema);
    const deviceId = codes.deviceOf(code);
    if (deviceId === null || devices.find(deviceId) === null) {
      const problem = devices.problem();
      if (problem !== null) throw unavailable(problem);
      const waitS = throttle.attempt(exchange.remote);
      if (waitS > 0)
        throw new ServiceError('busy', 'Too many wrong codes. Wait before you try again.', { details: { retry_after_s: waitS } });
      throw forbidden('This link is invalid, used or has expired. Create a new one: ./svc device add NAME');
    }
    const { device, token } = devices.pair(deviceId, platform);
    codes.drop(deviceId);
    onPaired(deviceId);
    const body: Paired = {
      ok: true,
      token,
      device: { id: device.device_id, name: device.name },
      assistant,
      instance_id: instanceId,
    };
    sendJson(exchange, { status: 200, headers: { 'cache-control': 'no-store' }, body: JSON.stringify(body) });
  };
  return {
    method: 'POST',
    path: '/gw/pair',
    doc: { summary: 'Lets a device in with the code of its link', body: pairSchema },
    handle,
  };
}
