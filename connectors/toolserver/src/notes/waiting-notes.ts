import type { ConnectorState } from '@svc/connector-kit';
import type { Clock } from '@svc/service-kit/clock.ts';
import { createInTurnByKey } from '@svc/service-kit/in-turn-by-key.ts';

/** Something that was sent to a user. */
export type Note = { id: string; text: string; at: number };

/** What was sent to users who had no stream open: it waits for their next answer, 30 days and 50 of them at the most. */
export type WaitingNotes = {
  add(userId: string, note: Note): Promise<void>;
  list(userId: string): Promise<Note[]>;
  /** Those that were shown wait no more. */
  remove(userId: string, shown: readonly Note[]): Promise<void>;
};

const maxNotes = 50;
const keptMs = 30 * 24 * 60 * 60_000;

export function createWaitingNotes(state: ConnectorState, clock: Pick<Clock, 'now'>): WaitingNotes {
  const keyOf = (userId: string) => `note/${userId}`;
  // A removal reads and writes: without turns, a note that is added in between would be lost.
  const inTurn = createInTurnByKey();
  const held = async (userId: string) => (await state.get<Note[]>(keyOf(userId))) ?? [];
  return {
    list: async (userId) => (await held(userId)).filter(({ at }) => clock.now() - at < keptMs),
    add: (userId, note) => inTurn(userId, () => state.append(keyOf(userId), note, maxNotes)),
    remove: (userId, shown) =>
      inTurn(userId, async () => {
        const gone = new Set(shown.map(({ id }) => id));
        const left = (await held(userId)).filter(({ id }) => !gone.has(id));
        await (left.length === 0 ? state.delete(keyOf(userId)) : state.set(keyOf(userId), left));
      }),
  };
}

/** A note as a line of text, with the time at which it was sent. */
export const noteLine = ({ at, text }: Note): string =>
  `(${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC) ${text}`;
