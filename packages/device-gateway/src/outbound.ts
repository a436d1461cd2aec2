import type { Outbound, OutboundMessage } from '@svc/connector-kit';
import { notFound, ServiceError } from '@svc/service-kit/service-error.ts';
import type { DeviceRecord } from './device/device-record.ts';
import { holderOf, noAccess } from './device/holder.ts';
import { askerOf, ownKey, type Gateway } from './gateway.ts';
import type { Push } from './push/open-push.ts';
import { withoutRefusal } from './turn/injected.ts';

/**
 * What is sent to devices from outside (spec: mobile connector, `/out`): `inject` says something in a device's conversation, `speak` is read aloud.
 * An empty target or `*` is every device that can be reached.
 */
export function createSend(gateway: Gateway, push: Pick<Push, 'ended'>): NonNullable<Outbound['send']> {
  const { ctx, devices, links } = gateway;

  /** Under the id of the message: sent again, it is said where it was not said yet. */
  async function inject(device: DeviceRecord, { id, text = '' }: OutboundMessage): Promise<void> {
    const injected = ctx.core.sessions
      .inject(askerOf(gateway, device), ownKey(gateway, device), { text, message_id: id })
      .then(({ outcome, reply }) => push.ended(device.device_id, { outcome, text: reply }));
    await withoutRefusal(gateway, injected);
  }

  /** Whoever is let in no more is told nothing, and a link that was open before ends. */
  async function onlyAdmitted(named: readonly DeviceRecord[]): Promise<DeviceRecord[]> {
    const looked = await Promise.all(
      named.map(async (device) => ({ device, isDenied: (await holderOf(gateway, device)).denied })),
    );
    for (const { device, isDenied } of looked) if (isDenied) links.end(device.device_id);
    return looked.filter(({ isDenied }) => !isDenied).map(({ device }) => device);
  }

  function deviceOf(target: string): DeviceRecord {
    const device = devices.find(target) ?? devices.list().find(({ name }) => name === target);
    if (device !== undefined) return device;
    throw new ServiceError('unprocessable', notFound('device', target).message);
  }

  return async (message: OutboundMessage) => {
    const { id, kind, target, text } = message;
    const isForAll = target === '' || target === '*';
    const meant = isForAll ? links.devices().flatMap((deviceId) => devices.find(deviceId) ?? []) : [deviceOf(target)];
    const named = await onlyAdmitted(meant);
    if (named.length === 0) throw isForAll ? nobodyThere() : noAccess();
    if (kind === 'inject') {
      const said = await Promise.allSettled(named.map((device) => inject(device, message)));
      const refused = said.find(({ status }) => status === 'rejected');
      if (refused?.status === 'rejected') throw refused.reason;
      return;
    }
    const frame = { type: 'speak', id, text: text ?? '' };
    if (!named.map((device) => links.send(device.device_id, frame)).includes(true)) throw nobodyThere();
  };
}

/** It is tried again: devices come and go. */
const nobodyThere = () =>
  new ServiceError('busy', 'No device can be reached at the moment.', { details: { retry_after_s: 15, keeps_pace: true } });
