import type { StartContext } from '@svc/connector-kit';
import { postPublic } from '@svc/connector-kit/fetch-public/post-public.ts';
import type { Network } from '@svc/connector-kit/fetch-public/public-network.ts';
import type { PushMessage } from '@svc/contract/device-notices.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { encryptPush } from './encrypt-push.ts';
import type { Subscription, Subscriptions } from './subscriptions.ts';
import type { Vapid } from './vapid.ts';

type Deps = {
  subscriptions: Subscriptions;
  vapid: Vapid;
  clock: Clock;
  log: StartContext['log'];
  /** Whether a device still has access. */
  isKnown(deviceId: string): boolean;
  signal: AbortSignal;
  /** Replaces the network in tests. */
  network?: Network;
};

/** Sends notifications to a device's browser in the background, with a timeout; failures are logged. */
export type PushSender = {
  /** A newer message to a device replaces a waiting one. Nothing is sent to a device without a subscription. */
  send(deviceId: string, message: PushMessage): void;
};

const atOnce = 4;
const maxWaiting = 1_000;
const sendMs = 10_000;
/** How long a push service stores a message that it cannot deliver, s. */
const keepS = 24 * 60 * 60;
const retryMs = [5_000, 60_000];
const longestWaitMs = 10 * 60_000;

type Waiting = { deviceId: string; message: PushMessage; tries: number };

export function createPushSender({ subscriptions, vapid, clock, log, isKnown, signal, network }: Deps): PushSender {
  /** By device, in order of arrival. */
  const waiting = new Map<string, Waiting>();
  const later = new Map<string, () => void>();
  let sending = 0;

  function queue(next: Waiting): void {
    if (signal.aborted) return;
    later.get(next.deviceId)?.();
    later.delete(next.deviceId);
    if (waiting.size >= maxWaiting && !waiting.has(next.deviceId)) {
      log('warn', 'a device was not notified of an answer: too many notifications are waiting', { device: next.deviceId });
      return;
    }
    waiting.set(next.deviceId, next);
    pump();
  }

  function pump(): void {
    for (const [deviceId, next] of waiting) {
      if (sending >= atOnce) return;
      waiting.delete(deviceId);
      sending++;
      void deliver(next)
        .catch((error: unknown) =>
          log('warn', 'a device was not notified of an answer', { device: deviceId, error: errorText(error) }),
        )
        .finally(() => {
          sending--;
          pump();
        });
    }
  }

  async function deliver(next: Waiting): Promise<void> {
    const subscription = await subscriptions.get(next.deviceId);
    if (subscription === undefined || !isKnown(next.deviceId) || signal.aborted) return;
    const fault = await post(next, subscription);
    if (fault === null || signal.aborted) return;
    const waitMs = next.tries < retryMs.length ? (fault.retryMs ?? retryMs[next.tries]) : undefined;
    log('warn', 'a device was not notified of an answer', { device: next.deviceId, why: fault.why, again_ms: waitMs ?? null });
    // A newer message that has arrived in the meantime replaces this one.
    if (waitMs === undefined || waiting.has(next.deviceId) || later.size >= maxWaiting) return;
    later.set(
      next.deviceId,
      clock.after(waitMs, () => queue({ ...next, tries: next.tries + 1 })),
    );
  }

  /** Null when it was accepted, or never will be. `retryMs`: when the service wants a retry. */
  async function post(
    { deviceId, message }: Waiting,
    subscription: Subscription,
  ): Promise<{ why: string; retryMs?: number } | null> {
    const { endpoint } = subscription;
    const answer = await postPublic(endpoint, {
      headers: {
        authorization: vapid.authorization(new URL(endpoint)),
        'content-encoding': 'aes128gcm',
        'content-type': 'application/octet-stream',
        ttl: String(keepS),
        urgency: 'high',
        // A notification replaces an earlier one that was not yet delivered.
        topic: 'answer',
      },
      body: encryptPush(Buffer.from(JSON.stringify(message)), subscription),
      timeoutMs: sendMs,
      signal,
      ...(network !== undefined && { network }),
    }).catch((error: unknown) => ({ status: 0, headers: {}, error }));
    if ('error' in answer) return { why: errorText(answer.error) };
    const { status, headers } = answer;
    if (status >= 200 && status < 300) return null;
    if (status === 404 || status === 410) {
      await subscriptions.remove(deviceId, endpoint);
      log('info', 'the browser of a device has ended its push subscription', { device: deviceId });
      return null;
    }
    if (status !== 429 && status < 500) {
      log('warn', 'a push service rejected a notification', { device: deviceId, status });
      return null;
    }
    const retryS = Number(headers['retry-after']);
    return { why: `its push service answered ${status}`, ...(retryS > 0 && { retryMs: Math.min(retryS * 1000, longestWaitMs) }) };
  }

  return { send: (deviceId, message) => queue({ deviceId, message, tries: 0 }) };
}
