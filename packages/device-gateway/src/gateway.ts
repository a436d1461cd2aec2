import { deviceKey, type Envelope, type Exchange, type SessionAsker, type StartContext } from '@svc/connector-kit';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { GatewayConfig } from './config.ts';
import type { Authenticate } from './device/authenticate.ts';
import type { DeviceRecord } from './device/device-record.ts';
import type { Devices } from './device/devices.ts';
import type { ReadBody } from './http/read-body.ts';
import type { OpenLinks } from './stream/open-links.ts';

/** What all routes of a gateway use. */
export type Gateway = {
  ctx: StartContext<GatewayConfig>;
  meta: ConnectorMeta;
  clock: Clock;
  devices: Devices;
  authenticate: Authenticate;
  readBody: ReadBody;
  links: OpenLinks;
};

/** The sender as whom a device asks the core. */
export const askerOf = ({ meta }: Pick<Gateway, 'meta'>, { identity, username }: DeviceRecord): SessionAsker => ({
  channel: meta.type,
  sender: { raw_id: identity, raw_username: username },
});

/** The device's own conversation. */
export const ownKey = ({ meta, ctx }: Pick<Gateway, 'meta' | 'ctx'>, { device_id }: Pick<DeviceRecord, 'device_id'>): string =>
  deviceKey(meta.type, ctx.instanceId, device_id);

/** The envelope of a device's message, without its text. */
export function envelopeOf(gateway: Pick<Gateway, 'meta' | 'ctx'>, device: DeviceRecord): Omit<Envelope, 'content'> {
  return {
    ...askerOf(gateway, device),
    conversation_key: ownKey(gateway, device),
    capabilities: gateway.meta.capabilities,
    keeps: true,
    channel_context: { target: device.device_id },
  };
}

/** A query parameter of a request; null when it is missing. */
export const queryOf = ({ req }: Pick<Exchange, 'req'>, name: string): string | null =>
  new URL(req.url ?? '/', 'http://gateway').searchParams.get(name);
