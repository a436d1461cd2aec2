import type { Exchange, Route } from '@svc/connector-kit';
import { pushSubscriptionSchema, type PushSubscriptionBody } from '@svc/contract/device-notices.ts';
import { forbidden } from '@svc/service-kit/service-error.ts';
import type { DeviceRecord } from '../device/device-record.ts';
import type { Gateway } from '../gateway.ts';
import { reply } from '../http/reply.ts';
import type { Subscriptions } from './subscriptions.ts';
import type { Vapid } from './vapid.ts';

/** `GET /gw/push-key`, `PUT` and `DELETE /gw/push`: manages the push subscription of a device's browser. */
export function createPushRoutes(
  { authenticate, readBody }: Pick<Gateway, 'authenticate' | 'readBody'>,
  subscriptions: Subscriptions,
  vapid: Vapid,
): Route[] {
  async function subscribe(exchange: Exchange): Promise<void> {
    const device = paired(authenticate(exchange));
    await subscriptions.set(device.device_id, await readBody<PushSubscriptionBody>(exchange, pushSubscriptionSchema));
    reply(exchange, { ok: true });
  }

  async function unsubscribe(exchange: Exchange): Promise<void> {
    await subscriptions.remove(authenticate(exchange).device_id);
    reply(exchange, { ok: true });
  }

  return [
    {
      method: 'GET',
      path: '/gw/push-key',
      doc: { summary: 'The public key for push subscriptions', needsKey: true },
      handle(exchange) {
        authenticate(exchange);
        reply(exchange, { ok: true, key: vapid.publicKey });
      },
    },
    {
      method: 'PUT',
      path: '/gw/push',
      doc: { summary: 'Subscribes this device to notifications of answers', needsKey: true, body: pushSubscriptionSchema },
      handle: subscribe,
    },
    {
      method: 'DELETE',
      path: '/gw/push',
      doc: { summary: 'Unsubscribes this device from notifications', needsKey: true },
      handle: unsubscribe,
    },
  ];
}

/** All callers without a token are the same device, so one would receive the messages of the others. */
function paired(device: DeviceRecord): DeviceRecord {
  if (device.token_sha256 === null) throw forbidden('Only a paired device can subscribe to notifications.');
  return device;
}
