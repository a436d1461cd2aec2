import type { Clock } from '@svc/service-kit/clock.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';

/** A client whose page is open: what it says of itself, and where it would send the browser. */
export type WaitingClient = { client_id: string; client_name: string; user_id: string; redirect_to: string };

export type WaitingClients = {
  add(client: WaitingClient): void;
  /** Approved or refused. */
  remove(clientId: string): void;
  /** With the person that each speaks for; null for a stranger. */
  list(): Promise<(WaitingClient & { person: string | null })[]>;
};

const lifeMs = 10 * 60_000;
/** Anyone may open a page; the operator looks for the one that they have just opened. */
const maxWaiting = 50;

export function createWaitingClients(
  clock: Pick<Clock, 'elapsed'>,
  personOf: (userId: string) => Promise<string | null>,
): WaitingClients {
  const waiting = new Map<string, WaitingClient & { at: number }>();
  return {
    add(client) {
      waiting.delete(client.client_id);
      waiting.set(client.client_id, { ...client, at: clock.elapsed() });
      forgetOldest(waiting, maxWaiting);
    },
    remove: (clientId) => void waiting.delete(clientId),
    list() {
      const open = [...waiting.values()].filter(({ at }) => clock.elapsed() - at < lifeMs);
      return Promise.all(open.map(async ({ at: _at, ...client }) => ({ ...client, person: await personOf(client.user_id) })));
    },
  };
}
