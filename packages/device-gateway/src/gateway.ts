import { deviceKey, type Envelope, type Exchange, type SessionAsker, type StartContext } from '@svc/connector-kit';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { GatewayConfig } from './config.ts';
import type { Authenticate } from './device/authenticate.ts';
import type { DeviceRecord } from './device/device-record.ts';
import type { Devices } from './device/devices.ts';
import type { ReadBody } from './http/read-body.ts';
import type { OpenLinks } from './stream/open-links.ts';

/** What all routes of a gateway work with. */
export type Gateway = {
  ctx: StartContext<GatewayConfig>;
  meta: ConnectorMeta;
  clock: Clock;
  devices: Devices;
  authenticate: Authenticate;
  readBody: ReadBody;
  links: OpenLinks;
};

/** As whom a device asks the core. */
export const askerOf = ({ meta }: Pick<Gateway, 'meta'>, { identity, username }: DeviceRecord): SessionAsker => ({
  channel: meta.type,
  sender: { raw_id: identity, raw_username: username },
});

/** The conversation that a device has of its own. */
export const ownKey = ({ meta, ctx }: Pick<Gateway, 'meta' | 'ctx'>, { device_id }: DeviceRecord): string =>
  deviceKey(meta.type, ctx.instanceId, device_id);

/** A message of a device, without its words. */
export function envelopeOf(gateway: Pick<Gateway, 'meta' | 'ctx'>, device: DeviceRecord): Omit<Envelope, 'content'> {
  return {
    ...askerOf(gateway, device),
    conversation_key: ownKey(gateway, device),
    capabilities: gateway.meta.capabilities,
    keeps: true,
    channel_context: { target: device.device_id },
  };
}

/** A part of a request's address; null where it is not there. */
export const queryOf = ({ req }: Pick<Exchange, 'req'>, name: string): string | null =>
  new URL(req.url ?? '/', 'http://gateway').searchParams.get(name);
