import type { OutboundMessage } from '@svc/connector-kit';
import type { Clock } from '@svc/service-kit/clock.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Approvals } from '../consent/approvals.ts';
import type { ClientsFile } from '../people/clients-file.ts';
import type { OpenStreams } from './open-streams.ts';
import type { WaitingNotes } from './waiting-notes.ts';

type Deps = { clients: ClientsFile; approvals: Approvals; streams: OpenStreams; notes: WaitingNotes; clock: Pick<Clock, 'now'> };

/**
 * Sends a text to a user: on the streams that they have open, else it waits for their next answer.
 * @throws ServiceError `unprocessable` when no client speaks for this user.
 */
export function createSend({ clients, approvals, streams, notes, clock }: Deps) {
  return async ({ id, target, text = '' }: OutboundMessage): Promise<void> => {
    const isKnown =
      clients.list().some(({ identity }) => identity.userId === target) ||
      (await approvals.list()).some(({ user_id: userId }) => userId === target);
    if (!isKnown)
      throw new ServiceError(
        'unprocessable',
        `No client of this server speaks for "${target}". List the clients with: ./svc toolserver clients`,
      );
    if (await streams.tell(target, text)) return;
    await notes.add(target, { id, text, at: clock.now() });
  };
}
