import type { Outbound, OutboundMessage } from '@svc/connector-kit';
import { notFound, ServiceError } from '@svc/service-kit/service-error.ts';
import type { DeviceRecord } from './device/device-record.ts';
import { askerOf, ownKey, type Gateway } from './gateway.ts';
import type { Push } from './push/open-push.ts';

/**
 * What is sent to devices from outside (spec: mobile connector, `/out`): `inject` says something in a device's conversation, `speak` is read aloud.
 * An empty target or `*` is every device that can be reached.
 */
export function createSend(gateway: Gateway, push: Pick<Push, 'ended'>): NonNullable<Outbound['send']> {
  const { ctx, devices, links } = gateway;

  const inject = async (device: DeviceRecord, text: string): Promise<void> => {
    const { outcome, reply } = await ctx.core.sessions.inject(askerOf(gateway, device), ownKey(gateway, device), { text });
    push.ended(device.device_id, { outcome, text: reply });
  };

  return async ({ id, kind, target, text }: OutboundMessage) => {
    const isForAll = target === '' || target === '*';
    const reached = links.devices();
    const named = isForAll ? reached.flatMap((deviceId) => devices.find(deviceId) ?? []) : [deviceOf(target)];
    if (kind === 'inject') {
      if (named.length === 0) throw nobodyThere();
      await Promise.all(named.map((device) => inject(device, text ?? '')));
      return;
    }
    const frame = { type: 'speak', id, text: text ?? '' };
    if (!named.map((device) => links.send(device.device_id, frame)).includes(true)) throw nobodyThere();
  };

  function deviceOf(target: string): DeviceRecord {
    const device = devices.find(target) ?? devices.list().find(({ name }) => name === target);
    if (device !== undefined) return device;
    throw new ServiceError('unprocessable', notFound('device', target).message);
  }
}

/** It is tried again: devices come and go. */
const nobodyThere = () =>
  new ServiceError('busy', 'No device can be reached at the moment.', { details: { retry_after_s: 15, keeps_pace: true } });
