import type { Clock } from '@svc/service-kit/clock.ts';
import { ApiError, type TelegramUpdate } from './api-types.ts';

/** The updates that the bot has not confirmed. */
export type Updates = {
  /** The unconfirmed updates, in order. */
  readonly pending: readonly TelegramUpdate[];
  /** Id of the last one that the bot has confirmed. */
  readonly confirmed: number;
  /** Adds an update, unless the bot does not want its kind. */
  add(kind: string, body: object): void;
  /** Changes the wanted kinds; existing updates stay. */
  want(kinds: readonly string[] | undefined): void;
  readonly wanted: readonly string[];
  /** A long poll; a newer one ends it. @throws ApiError */
  poll(request: PollRequest): Promise<TelegramUpdate[]>;
  confirm(upTo: number): void;
  drop(): void;
  /** Called for each new update. */
  onAdded: () => void;
};

export type PollRequest = {
  offset?: number;
  limit?: number;
  timeout?: number;
  allowed_updates?: string[];
  gone: Promise<unknown>;
};

/** Kinds that only a bot that names them gets. */
const unasked = new Set(['chat_member', 'message_reaction', 'message_reaction_count']);

export function createUpdates(clock: Clock, disturb: (updates: TelegramUpdate[]) => TelegramUpdate[]): Updates {
  let pending: TelegramUpdate[] = [];
  let wanted: readonly string[] = [];
  let lastId = 700_000_000;
  let confirmed = lastId;
  let poll: { finish: () => void; refuse: (error: ApiError) => void } | null = null;

  const updates: Updates = {
    get pending() {
      return pending;
    },
    get confirmed() {
      return confirmed;
    },
    get wanted() {
      return wanted;
    },
    add(kind, body) {
      const isWanted = wanted.length === 0 ? !unasked.has(kind) : wanted.includes(kind);
      if (!isWanted) return;
      pending.push(structuredClone({ update_id: ++lastId, [kind]: body }) as TelegramUpdate);
      poll?.finish();
      updates.onAdded();
    },
    want(kinds) {
      wanted = kinds ?? wanted;
    },
    async poll({ offset = 0, limit = 100, timeout = 0, allowed_updates, gone }) {
      updates.want(allowed_updates);
      updates.confirm((offset < 0 ? (pending.at(offset)?.update_id ?? lastId + 1) : offset) - 1);
      poll?.refuse(
        new ApiError(409, 'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running'),
      );
      const given = () => disturb(pending.slice(0, Math.min(Math.max(limit, 1), 100)));
      if (pending.length > 0 || timeout <= 0) return given();
      const { promise, resolve, reject } = Promise.withResolvers<TelegramUpdate[]>();
      const own = { finish: () => resolve(given()), refuse: reject };
      poll = own;
      void gone.then(() => resolve([]));
      const stopTimer = clock.after(Math.min(timeout, 50) * 1000, own.finish);
      return promise.finally(() => {
        stopTimer();
        if (poll === own) poll = null;
      });
    },
    confirm(upTo) {
      confirmed = Math.max(confirmed, Math.min(upTo, lastId));
      pending = pending.filter(({ update_id }) => update_id > upTo);
    },
    drop: () => updates.confirm(lastId),
    onAdded: () => undefined,
  };
  return updates;
}
