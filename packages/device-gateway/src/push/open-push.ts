import { errorText, type Route } from '@svc/connector-kit';
import type { Outcome } from '@svc/contract/turn.ts';
import type { Network } from '@svc/connector-kit/fetch-public/public-network.ts';
import { placeholderBaseUrl } from '../config.ts';
import { ownKey, type Gateway } from '../gateway.ts';
import { createAwaitedAnswers } from './awaited-answers.ts';
import { createPushRoutes } from './push-routes.ts';
import { createPushSender } from './push-sender.ts';
import { createSubscriptions } from './subscriptions.ts';
import { createUnreadAnswers } from './unread-answers.ts';
import { openVapid } from './vapid.ts';

type Ended = { outcome: Outcome; text: string };

/** Notifies browsers of answers that nobody has read (Web Push, RFC 8030). */
export type Push = {
  routes: Route[];
  /** A turn in the device's own conversation was accepted: its answer will be reported, even after a restart of the gateway. */
  begun(deviceId: string, turnId: string): void;
  /** A turn in the device's own conversation has ended. */
  ended(deviceId: string, answer: Ended): void;
  /** The device was removed. */
  forget(deviceId: string): Promise<void>;
};

/** @param network replaces the network in tests */
export async function openPush(gateway: Gateway, network?: Network): Promise<Push> {
  const { ctx, clock, devices, links } = gateway;
  const isKnown = (deviceId: string) => devices.find(deviceId) !== null;
  const { config, log, signal, state } = ctx;
  // Push services require a contact address, and accept no other kind of URL.
  const contact = config.base_url.startsWith('https://') ? config.base_url : placeholderBaseUrl;
  const vapid = await openVapid(state, contact, clock);
  const subscriptions = createSubscriptions(state);
  const sender = createPushSender({
    subscriptions,
    vapid,
    clock,
    log,
    isKnown,
    signal,
    ...(network !== undefined && { network }),
  });
  const answers = createUnreadAnswers({
    push: sender,
    clock,
    // One that shows another conversation does not show the answer.
    isReading: (deviceId) => links.shows(deviceId, ownKey(gateway, { device_id: deviceId })),
    tellsContent: config.push_content,
  });
  const awaited = createAwaitedAnswers({ ...gateway, subscriptions });
  const notKept = (error: unknown) =>
    log('warn', 'the answers that a device waits for could not be saved', { error: errorText(error) });
  // A person who stopped a turn knows that it has ended.
  const ended = (deviceId: string, { outcome, text }: Ended): void => {
    answers.ended(deviceId, outcome === 'aborted' ? '' : text);
    awaited.over(deviceId).catch(notKept);
  };
  const giveUp = await awaited.resume(ended);
  signal.addEventListener('abort', giveUp, { once: true });
  return {
    routes: createPushRoutes(gateway, subscriptions, vapid),
    begun: (deviceId, turnId) => void awaited.begun(deviceId, turnId).catch(notKept),
    ended,
    async forget(deviceId) {
      answers.forget(deviceId);
      await awaited.over(deviceId);
      await subscriptions.remove(deviceId);
    },
  };
}
