import type { OutboundMessage } from '@svc/contract/send.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { queueFull, ServiceError } from '@svc/service-kit/service-error.ts';
import type { Outbound } from '../connector.ts';
import type { SentIds } from './sent-ids.ts';

type Deps = { send: NonNullable<Outbound['send']>; sent: SentIds; clock: Clock };
export type OutboundSender = {
  /** Resolves when the channel has the message; `repeated` when it already had it. */
  send(message: OutboundMessage): Promise<{ repeated: boolean }>;
  /** Resolves when nothing is being sent. Never rejects. */
  drain(): Promise<void>;
};

/** A message that is being sent. `callers`: how many still wait for it. */
type Attempt = { target: string; sent: Promise<void>; giveUp: AbortController; callers: number };

const maxRunning = 100;
/** Maximum per target: a slow chat must not take the places of all the others. */
const maxPerTarget = 20;
const limitMs = 60_000;
/** In a slow chat with many messages, a message may wait longer in the queue than its caller waits for it. */
const longestMs = 10 * 60_000;

/**
 * Sends each id once: a repeat joins the running attempt, or finds it done. A failed attempt may be repeated. An attempt that takes longer
 * than its caller waits continues: if cancelled, it would lose its place in the queue each time, and never be sent.
 */
export function createOutboundSender({ send, sent, clock }: Deps): OutboundSender {
  const running = new Map<string, Attempt>();
  let draining = false;

  function checkRoom(target: string): void {
    if (running.size >= maxRunning) throw queueFull(`${maxRunning} messages are being sent at once. Try again in a moment.`);
    let toTarget = 0;
    for (const attempt of running.values()) if (attempt.target === target) toTarget++;
    if (toTarget >= maxPerTarget)
      throw queueFull(`${maxPerTarget} messages are already waiting for this target. Try again in a moment.`);
  }

  /** A cancelled send may still succeed, and then counts. */
  function begin(message: OutboundMessage): Attempt {
    const giveUp = new AbortController();
    const overdue = Promise.withResolvers<never>();
    const cancel = clock.after(longestMs, () => {
      giveUp.abort();
      overdue.reject(tooSlow(longestMs));
    });
    const sending = (async () => send(message, giveUp.signal))().then(() => sent.add(message.id));
    const ended = Promise.race([sending, overdue.promise]).finally(() => {
      cancel();
      running.delete(message.id);
    });
    ended.catch(() => undefined); // errors go to the callers that wait
    const attempt = { target: message.target, sent: ended, giveUp, callers: 0 };
    running.set(message.id, attempt);
    return attempt;
  }

  async function waitFor(attempt: Attempt): Promise<void> {
    attempt.callers++;
    const overdue = Promise.withResolvers<never>();
    const cancel = clock.after(limitMs, () => overdue.reject(tooSlow(limitMs)));
    try {
      await Promise.race([attempt.sent, overdue.promise]);
    } finally {
      cancel();
      attempt.callers--;
      if (draining && attempt.callers === 0) attempt.giveUp.abort();
    }
  }

  return {
    async send(message) {
      const { id } = message;
      if (sent.has(id)) return { repeated: true };
      const known = running.get(id);
      if (known === undefined) checkRoom(message.target);
      await waitFor(known ?? begin(message));
      return { repeated: known !== undefined };
    },
    async drain() {
      draining = true;
      const attempts = [...running.values()];
      for (const { giveUp, callers } of attempts) if (callers === 0) giveUp.abort();
      await Promise.allSettled(attempts.map((attempt) => attempt.sent));
    },
  };
}

const tooSlow = (ms: number) =>
  new ServiceError('upstream', `The channel did not accept the message within ${ms / 1000} s.`, { status: 504 });
