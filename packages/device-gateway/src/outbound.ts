import { CoreError, type HandleResult, type Outbound, type OutboundMessage } from '@svc/connector-kit';
import { textOf } from '@svc/contract/turn.ts';
import { notFound, ServiceError } from '@svc/service-kit/service-error.ts';
import { localDevice, localDeviceId } from './device/authenticate.ts';
import type { DeviceRecord } from './device/device-record.ts';
import { holderOf, noAccess } from './device/holder.ts';
import { askerOf, envelopeOf, ownKey, type Gateway } from './gateway.ts';
import type { Push } from './push/open-push.ts';
import type { OwnWatches } from './stream/own-watches.ts';
import { endFrames } from './turn/end-frames.ts';
import { withoutRefusal } from './turn/injected.ts';

type Deps = { push: Pick<Push, 'ended'>; watches: Pick<OwnWatches, 'look' | 'ended'> };
type Said = Pick<HandleResult, 'outcome'> & { text: string };

/**
 * Handles messages to devices from outside (spec: mobile connector, `/out`): `inject` sends a text into a device's conversation, `speak` is
 * read aloud. An empty target or `*` means every connected device.
 */
export function createSend(gateway: Gateway, { push, watches }: Deps): NonNullable<Outbound['send']> {
  const { ctx, devices, links } = gateway;

  /** Uses the id of the message, so that a repeat only reaches conversations that do not have it yet. */
  async function inject(device: DeviceRecord, message: OutboundMessage): Promise<void> {
    const { id, text = '' } = message;
    const injected = ctx.core.sessions
      .inject(askerOf(gateway, device), ownKey(gateway, device), { text, message_id: id })
      .then(
        ({ outcome, reply }) => ({ outcome, text: reply }),
        (error: unknown) => beginWith(device, message, error),
      )
      .then((said) => push.ended(device.device_id, said));
    await withoutRefusal(gateway, injected);
  }

  /** A device without a conversation gets one that begins with the message. */
  async function beginWith(device: DeviceRecord, { id, text = '' }: OutboundMessage, error: unknown): Promise<Said> {
    if (!(error instanceof CoreError) || error.code !== 'not_found') throw error;
    const envelope = { ...envelopeOf(gateway, device), message_id: id, content: { text } };
    const key = envelope.conversation_key;
    const onAccepted = (turnId: string): void => watches.look(key, turnId);
    // Questions are shown on the streams.
    const result = await ctx.core.handleStream(envelope, { onAsk: () => undefined }, { onAccepted });
    const { outcome, actions, turn_id } = result;
    if (outcome === 'denied') throw noAccess();
    watches.look(key, turn_id);
    watches.ended(key, turn_id, endFrames(key, result));
    return { outcome, text: textOf(actions) };
  }

  async function injectAll(named: readonly DeviceRecord[], message: OutboundMessage): Promise<void> {
    const said = await Promise.allSettled(named.map((device) => inject(device, message)));
    const faults = said.flatMap((each): unknown[] => (each.status === 'rejected' ? [each.reason] : []));
    const passing = faults.find((error) => !isRefusal(error));
    // The refusal of one device must not keep the message from the others.
    if (passing !== undefined || faults.length === named.length) throw passing ?? faults[0];
  }

  /** Someone who has lost access gets nothing, and their open streams are ended. */
  async function onlyAdmitted(named: readonly DeviceRecord[]): Promise<DeviceRecord[]> {
    const looked = await Promise.all(
      named.map(async (device) => ({ device, isDenied: (await holderOf(gateway, device)).denied })),
    );
    for (const { device, isDenied } of looked) if (isDenied) links.end(device.device_id);
    return looked.filter(({ isDenied }) => !isDenied).map(({ device }) => device);
  }

  function find(deviceId: string): DeviceRecord | null {
    return deviceId === localDeviceId && !ctx.config.require_token ? localDevice : devices.find(deviceId);
  }

  function deviceOf(target: string): DeviceRecord {
    const byId = find(target);
    const [named, ...more] = byId === null ? devices.list().filter(({ name }) => name === target) : [byId];
    if (named === undefined) throw new ServiceError('unprocessable', notFound('device', target).message);
    // A keys file that was edited by hand may contain a name twice.
    if (more.length > 0)
      throw new ServiceError('unprocessable', `Several devices are called "${target}". Use the ID of one of them.`);
    return named;
  }

  return async (message: OutboundMessage) => {
    const { id, kind, target, text } = message;
    const isForAll = target === '' || target === '*';
    const meant = isForAll ? links.devices().flatMap((deviceId) => find(deviceId) ?? []) : [deviceOf(target)];
    const named = await onlyAdmitted(meant);
    if (named.length === 0) throw isForAll ? nobodyThere() : noAccess();
    if (kind === 'inject') return injectAll(named, message);
    const frame = { type: 'speak', id, text: text ?? '' };
    if (!named.map((device) => links.send(device.device_id, frame)).includes(true)) throw nobodyThere();
  };
}

/** Errors that a retry cannot resolve. */
const isRefusal = (error: unknown): boolean => error instanceof ServiceError && error.status < 500 && error.status !== 429;

/** A temporary error: devices come and go, so the message is retried. */
const nobodyThere = () =>
  new ServiceError('busy', 'No device can be reached at the moment.', { details: { retry_after_s: 15, keeps_pace: true } });
