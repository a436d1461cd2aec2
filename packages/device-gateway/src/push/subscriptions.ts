import type { ConnectorState } from '@svc/connector-kit';
import type { PushSubscriptionBody } from '@svc/contract/device-notices.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';
import { NotPublicError, parsePublicUrl } from '@svc/connector-kit/fetch-public/public-network.ts';
import { arePushKeys, type PushKeys } from './encrypt-push.ts';

/** Where a device's browser receives notifications of answers. */
export type Subscription = PushKeys & { endpoint: string };

/** At most one per device. */
export type Subscriptions = {
  get(deviceId: string): Promise<Subscription | undefined>;
  /** Replaces the device's earlier one. @throws ServiceError `bad_request` for a subscription to which nothing could be sent */
  set(deviceId: string, body: PushSubscriptionBody): Promise<void>;
  /** With `endpoint`, only if that is still the present one. */
  remove(deviceId: string, endpoint?: string): Promise<void>;
};

const prefix = 'push/';

export function createSubscriptions(state: ConnectorState): Subscriptions {
  const get = (deviceId: string) => state.get<Subscription>(prefix + deviceId);
  return {
    get,
    async set(deviceId, body) {
      const subscription = toSubscription(body);
      const changes: Record<string, Subscription | undefined> = {};
      // A browser that was paired again belongs only to the new device.
      for (const { key, value } of await state.list(prefix))
        if ((value as Subscription).endpoint === subscription.endpoint) changes[key] = undefined;
      await state.change({ ...changes, [prefix + deviceId]: subscription });
    },
    async remove(deviceId, endpoint) {
      if (endpoint !== undefined && (await get(deviceId))?.endpoint !== endpoint) return;
      await state.delete(prefix + deviceId);
    },
  };
}

function toSubscription({ endpoint, keys: { p256dh, auth } }: PushSubscriptionBody): Subscription {
  try {
    parsePublicUrl(endpoint);
  } catch (error) {
    if (error instanceof NotPublicError) throw badRequest('"endpoint" must be the https address of a push service.');
    throw error;
  }
  if (!arePushKeys({ p256dh, auth })) throw badRequest('"keys" must be those of a push subscription.');
  return { endpoint, p256dh, auth };
}
