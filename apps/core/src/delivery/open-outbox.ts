import type { Clock } from '@svc/service-kit/clock.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { textInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import type { SqliteDatabase } from '@svc/store/open-sqlite.ts';
import type { Events } from '../events.ts';
import type { TurnJournal } from '../turn/turn-journal.ts';
import { createChannelSender, type SendToChannel } from './channel-sender.ts';
import type { StoredDelivery, DeliveryStore } from './delivery-store.ts';
import { createOutbox, type Outbox } from './outbox.ts';

export type OpenOutboxDeps = {
  settings: Pick<CoreSettings, 'bindHost' | 'managerPort' | 'managerToken'>;
  db: SqliteDatabase;
  deliveries: DeliveryStore;
  journal: TurnJournal;
  events: Events;
  knownSecrets: KnownSecrets;
  clock: Clock;
  log: Log;
  /** Replaces the manager in tests. */
  send: SendToChannel | undefined;
};

/** The outbox that sends over the manager, and marks in the journal what has arrived. */
export function openOutbox({
  settings,
  db,
  deliveries,
  journal,
  events,
  knownSecrets,
  clock,
  log,
  send,
}: OpenOutboxDeps): Outbox {
  const managerUrl = `http://${settings.bindHost}:${settings.managerPort}`;
  const mark = ({ turn_seq, turn_id }: StoredDelivery) =>
    journal.settle({ seq: turn_seq, id: turn_id }, 'delivered').catch((error: unknown) => {
      log.error({ err: error, turn: turn_id }, 'a delivered reply could not be marked');
    });
  return createOutbox({
    store: deliveries,
    db,
    send: send ?? createChannelSender(managerUrl, settings.managerToken),
    clock,
    log,
    redact: (text) => textInSlices(knownSecrets.redactor(), text),
    onSettled(delivery) {
      events.delivery(delivery);
      if (delivery.state === 'delivered') void mark(delivery);
    },
  });
}
