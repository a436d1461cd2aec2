import { isRecord } from '@svc/contract/json-value.ts';
import type { Envelope } from '@svc/contract/envelope.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import { queueFull, ServiceError } from '@svc/service-kit/service-error.ts';
import type { StartContext } from '../connector.ts';
import type { ConnectorState, StateValue } from '../state/state.ts';
import { createSeenUpdates, type SeenUpdates } from './seen-updates.ts';

/** A message that was given to the core and is not closed. */
export type OpenTurn = {
  /** Its position among the open turns. */
  place: string;
  chat: string;
  updates: readonly string[];
  envelope: Envelope;
  /** Null until the core has accepted it. */
  turnId: string | null;
  /** True when an earlier process opened it. */
  isAgain: boolean;
};

/** The outcome of a reply. `error`: why the channel does not show it. */
export type Shown = { turn_id: string; error?: string };

/** What ingress stores across restarts. A turn that was opened here is never lost, and its updates are not handled again. */
export type OpenTurns = {
  /** The turns that an earlier process left open, in order of arrival, and the replies whose outcome the core may not know. */
  load(): Promise<{ turns: OpenTurn[]; shown: Shown[] }>;
  /** @throws ServiceError `queue_full` while there is no room, `too_large` for a message that can never fit */
  open(chat: string, updates: readonly string[], envelope: Envelope): Promise<OpenTurn>;
  /** Stores that the core has accepted the turn, so that its reply is found by its turn after a restart. */
  accept(turn: OpenTurn, turnId: string): Promise<void>;
  /** Removes the turn; its updates stay known. */
  close(turn: OpenTurn, shown: Shown | null): Promise<void>;
  isKnown(chat: string, update: string): boolean;
};

const prefix = 'ingress/';
const placeLength = 15;
const openKey = (place: string) => `${prefix}open/${place}`;
const turnKey = (place: string) => `${prefix}turn/${place}`;
const shownKey = `${prefix}shown`;
const seenPrefix = `${prefix}seen/`;

const maxOpen = 500;
/** Limit of all open turns together, as JSON: half of what the state can hold. */
const maxOpenChars = 16 * 1024 * 1024;
/** Limit of one turn, as JSON. */
const maxTurnChars = 7 * 1024 * 1024;
/** Maximum number of replies that are reported to the core again after a restart. */
const maxShown = 100;

export function createOpenTurns(state: ConnectorState, log: StartContext['log']): OpenTurns {
  const known = new Map<string, OpenTurn>();
  const sizes = new Map<string, number>();
  let chars = 0;
  let next = 1;
  let shownLast: Shown[] = [];
  const seen: SeenUpdates = createSeenUpdates();

  const remember = (turn: OpenTurn, size: number): void => {
    sizes.set(turn.place, size);
    chars += size;
    for (const update of turn.updates) known.set(compositeKey(turn.chat, update), turn);
  };
  const forget = (turn: OpenTurn): void => {
    chars -= sizes.get(turn.place) ?? 0;
    sizes.delete(turn.place);
    for (const update of turn.updates) known.delete(compositeKey(turn.chat, update));
  };
  const checkRoom = (size: number): void => {
    if (size > maxTurnChars)
      throw new ServiceError('too_large', 'This message is too long to be stored until it is answered. Send a shorter one.');
    if (sizes.size < maxOpen && chars + size <= maxOpenChars) return;
    throw queueFull(`${sizes.size} messages of this channel are waiting for an answer, which is the maximum. Try again later.`);
  };

  return {
    async load() {
      const [open, accepted, shown, chats] = await Promise.all([
        state.list(`${prefix}open/`),
        state.list(`${prefix}turn/`),
        state.get(shownKey),
        state.list(seenPrefix),
      ]);
      seen.load(chats.map(({ key, value }) => ({ name: key.slice(seenPrefix.length), value })));
      const turnIds = new Map(accepted.map(({ key, value }) => [key.slice(turnKey('').length), textOrNull(value)]));
      const turns = open.flatMap(({ key, value }) => {
        const place = key.slice(openKey('').length);
        const turn = toOpenTurn(place, value, turnIds.get(place) ?? null);
        if (turn === null) log('error', 'an open message could not be read and was skipped', { key });
        return turn === null ? [] : [turn];
      });
      for (const turn of turns) remember(turn, JSON.stringify(turn.envelope).length);
      next = 1 + Math.max(0, ...turns.map(({ place }) => Number(place) || 0));
      shownLast = toShown(shown);
      return { turns, shown: shownLast };
    },

    async open(chat, updates, envelope) {
      const place = String(next++).padStart(placeLength, '0');
      const turn: OpenTurn = { place, chat, updates, envelope, turnId: null, isAgain: false };
      const size = JSON.stringify(envelope).length;
      checkRoom(size);
      remember(turn, size);
      try {
        await state.set(openKey(place), { chat, updates, envelope: envelope as unknown as StateValue });
      } catch (error) {
        forget(turn);
        throw noRoom(error);
      }
      return turn;
    },

    async accept(turn, turnId) {
      if (turn.turnId === turnId) return;
      turn.turnId = turnId;
      await state.set(turnKey(turn.place), turnId);
    },

    async close(turn, shown) {
      seen.add(turn.chat, turn.updates);
      const others = shownLast.filter(({ turn_id }) => turn_id !== shown?.turn_id);
      shownLast = shown === null ? others : [...others, shown].slice(-maxShown);
      const handled = seen.changes();
      await state.change({
        [openKey(turn.place)]: undefined,
        [turnKey(turn.place)]: undefined,
        ...(shown !== null && { [shownKey]: shownLast }),
        ...Object.fromEntries(handled.map(([name, value]) => [seenPrefix + name, value])),
      });
      seen.written(handled);
      forget(turn);
    },

    isKnown: (chat, update) => known.has(compositeKey(chat, update)) || seen.has(chat, update),
  };
}

/** A full state is a temporary error: there is room again when messages are answered or the disk has space. */
function noRoom(error: unknown): unknown {
  const isFull = error instanceof ServiceError && (error.code === 'too_large' || error.code === 'insufficient_storage');
  return isFull ? queueFull(`This message cannot be stored at the moment: ${error.message}`, 5) : error;
}

const textOrNull = (value: StateValue): string | null => (typeof value === 'string' ? value : null);

function toOpenTurn(place: string, value: unknown, turnId: string | null): OpenTurn | null {
  if (!isRecord(value)) return null;
  const { chat, updates, envelope } = value;
  if (typeof chat !== 'string' || !Array.isArray(updates) || !isRecord(envelope)) return null;
  // The casts: `open` wrote this from an envelope.
  return { place, chat, updates: updates.map(String), envelope: envelope as Envelope, turnId, isAgain: true };
}

const toShown = (value: StateValue | undefined): Shown[] =>
  Array.isArray(value) ? value.filter((entry): entry is Shown => isRecord(entry) && typeof entry['turn_id'] === 'string') : [];
