import type { Clock } from '@svc/service-kit/clock.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import type { SendToChannel } from '../src/delivery/channel-sender.ts';
import { createDeliveryStore } from '../src/delivery/delivery-store.ts';
import type { OpenReplies } from '../src/delivery/open-replies.ts';
import { createOutbox } from '../src/delivery/outbox.ts';
import { openTestDb } from './open-test-db.ts';

const noReplies: OpenReplies = { openIn: () => [], onEnd: () => undefined };

/** An outbox of its own database, for a clock and a channel of the test. */
export function openTestOutbox(send: SendToChannel, clock: Clock, replies: OpenReplies = noReplies) {
  const db = openTestDb().db();
  const outbox = createOutbox({
    store: createDeliveryStore(db, clock, randomIds),
    db,
    send,
    clock,
    log: { warn: () => undefined, error: () => undefined },
    redact: (text) => text,
    onSettled: () => undefined,
  });
  outbox.start(replies);
  return outbox;
}
