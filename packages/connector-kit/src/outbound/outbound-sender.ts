import type { OutboundMessage } from '@svc/contract/send.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { queueFull, ServiceError } from '@svc/service-kit/service-error.ts';
import type { Outbound } from '../connector.ts';
import type { SentIds } from './sent-ids.ts';

type Deps = { send: NonNullable<Outbound['send']>; sent: SentIds; clock: Clock };
export type OutboundSender = {
  /** Resolves when the channel has the message; `repeated` when it had it before. */
  send(message: OutboundMessage): Promise<{ repeated: boolean }>;
  /** Resolves when nothing is on its way. Never rejects. */
  drain(): Promise<void>;
};

const maxRunning = 100;
const limitMs = 60_000;

/** Sends each id once: a repeat joins the attempt that runs, or finds it done. An attempt that failed may be repeated. */
export function createOutboundSender({ send, sent, clock }: Deps): OutboundSender {
  const running = new Map<string, Promise<void>>();

  /** A send that is given up may still succeed, and then counts. */
  function begin(message: OutboundMessage): Promise<void> {
    const giveUp = new AbortController();
    const sending = Promise.resolve(send(message, giveUp.signal)).then(() => sent.add(message.id));
    return new Promise<void>((resolve, reject) => {
      const cancel = clock.after(limitMs, () => {
        giveUp.abort();
        reject(new ServiceError('upstream', `The channel did not take the message within ${limitMs / 1000} s.`, { status: 504 }));
      });
      sending.then(resolve, reject).finally(cancel);
    });
  }

  return {
    async send(message) {
      const { id } = message;
      if (sent.has(id)) return { repeated: true };
      const known = running.get(id);
      if (known !== undefined) return known.then(() => ({ repeated: true }));
      if (running.size >= maxRunning) throw queueFull(`${maxRunning} messages are being sent at once. Try again in a moment.`);
      const sending = begin(message).finally(() => running.delete(id));
      running.set(id, sending);
      await sending;
      return { repeated: false };
    },
    async drain() {
      await Promise.allSettled(running.values());
    },
  };
}
