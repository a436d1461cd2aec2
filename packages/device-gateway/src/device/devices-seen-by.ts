import type { Identity } from '@svc/connector-kit';
import type { Gateway } from '../gateway.ts';
import type { DeviceRecord } from './device-record.ts';
import { holderOf } from './holder.ts';

/** Maximum number of devices searched for a person's own; no household has more. */
const mostLookedAt = 500;

/** The holder of a device, and the devices that they may see: their own, or all for an owner. */
export async function devicesSeenBy(
  gateway: Gateway,
  asker: DeviceRecord,
): Promise<{ identity: Identity; devices: DeviceRecord[] }> {
  const identity = await holderOf(gateway, asker);
  const all = gateway.devices.list();
  if (identity.trust_tier === 'SACRED') return { identity, devices: all };
  const holders = await Promise.all(
    all.slice(0, mostLookedAt).map(async (device) => [device, await holderOf(gateway, device)] as const),
  );
  const { principal_id: person } = identity;
  const devices = holders.flatMap(([device, { principal_id: id }]) =>
    device.device_id === asker.device_id || (person !== null && id === person) ? [device] : [],
  );
  return { identity, devices };
}
