import { badRequest, notFound } from '@svc/connector-kit';
import type { Invitation, ListedDevice } from '@svc/contract/device-gateway.ts';
import { isRecord } from '@svc/contract/json-value.ts';
import { gatewayCalls } from './calls-list.ts';
import { deviceName } from './device/device-name.ts';
import { isCapability, type DeviceRecord } from './device/device-record.ts';
import type { PairingCodes } from './device/pairing.ts';
import type { RemoveDevice } from './device/remove-device.ts';
import type { Gateway } from './gateway.ts';
import type { Capabilities } from './rpc/capabilities.ts';
import type { DeviceCalls } from './rpc/device-calls.ts';
import { actTimeoutMs } from './rpc/device-tools.ts';

type Deps = Pick<Gateway, 'devices' | 'links'> & {
  codes: PairingCodes;
  remove: RemoveDevice;
  rpc: Pick<DeviceCalls, 'begin'>;
  capabilities: Pick<Capabilities, 'of'>;
  baseUrl: () => string;
};

/** The operator's calls to a gateway, made by `./svc device`. */
export function createCalls(deps: Deps) {
  const calls: Record<(typeof gatewayCalls)[number], (params: Record<string, unknown>, target: string) => Promise<unknown>> = {
    invite: async ({ name, device_id: again }) =>
      invite(deps, again === undefined ? deps.devices.add(deviceName(name)) : known(deps, again)),
    devices: async () => ({ devices: deps.devices.list().map((device) => listed(deps, device)) }),
    rename: async ({ device_id, name }) => listed(deps, deps.devices.rename(known(deps, device_id).device_id, deviceName(name))),
    allow: async ({ device_id, capability }) =>
      listed(deps, deps.devices.allow(known(deps, device_id).device_id, capabilityIn(capability))),
    deny: async ({ device_id, capability }) =>
      listed(deps, deps.devices.deny(known(deps, device_id).device_id, capabilityIn(capability))),
    // Called by the engine of the device's own turn; the core has checked that it may.
    act: async ({ tool, params }, target) => {
      if (typeof tool !== 'string') throw badRequest('The name of the tool is required.');
      const call = {
        device: known(deps, target),
        method: tool,
        params: isRecord(params) ? params : {},
        timeoutMs: actTimeoutMs,
        by: 'engine',
      };
      return deps.rpc.begin(call).result;
    },
    revoke: async ({ device_id }) => listed(deps, await deps.remove(known(deps, device_id).device_id)),
  };
  return async (target: string, method: string, params: Record<string, unknown>): Promise<unknown> => {
    if (!isCall(method)) throw notFound('method', method);
    return calls[method](params, target);
  };
}

const isCall = (method: string): method is (typeof gatewayCalls)[number] => gatewayCalls.some((each) => each === method);

/** The code is in the URL fragment, which is sent to no server and appears in no log. */
function invite({ codes, baseUrl }: Deps, { device_id, identity }: DeviceRecord): Invitation {
  const { code, expiresAt } = codes.issue(device_id);
  return { device_id, identity, code, url: `${baseUrl()}/#pair=${code}`, expires_at: expiresAt };
}

function listed({ links, capabilities }: Deps, { token_sha256, username: _username, ...device }: DeviceRecord): ListedDevice {
  const { device_id: id } = device;
  const can = capabilities.of(id).map(({ name }) => name);
  return { ...device, state: token_sha256 === null ? 'invited' : 'paired', online: links.has(id), can };
}

function known({ devices }: Deps, id: unknown): DeviceRecord {
  const device = typeof id === 'string' ? devices.find(id) : null;
  if (device === null) throw typeof id === 'string' ? notFound('device', id) : badRequest('device_id is required.');
  return device;
}

function capabilityIn(name: unknown): string {
  if (isCapability(name)) return name;
  throw badRequest('The name of a capability is required, such as geolocation.');
}
