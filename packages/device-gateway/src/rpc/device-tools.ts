import type { Envelope } from '@svc/connector-kit';
import type { gatewayCalls } from '../calls-list.ts';
import type { DeviceRecord } from '../device/device-record.ts';
import type { Capabilities } from './capabilities.ts';

/** The call with which engines use a device (`meta.calls`). */
const actCall = 'act' satisfies (typeof gatewayCalls)[number];
/** Less than the core's own timeout of a minute, ms. */
export const actTimeoutMs = 55_000;

/** What the engine of a device's own turn may use: what the device can do and the owner has allowed. */
export function deviceToolsOf(capabilities: Pick<Capabilities, 'of'>, device: DeviceRecord): Pick<Envelope, 'device_tools'> {
  const tools = capabilities
    .of(device.device_id)
    .filter(({ name }) => device.allowed.includes(name))
    .map(({ name, description, input, policy, dangerous }) => ({
      name,
      description,
      ...(input !== undefined && { input }),
      policy,
      call: actCall,
      asks: dangerous === true,
    }));
  return tools.length === 0 ? {} : { device_tools: tools };
}
