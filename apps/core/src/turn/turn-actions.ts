import type { ExtraAction } from '@svc/contract/turn.ts';
import type { Database } from '@svc/store/database.ts';
import { conflict, ServiceError } from '@svc/service-kit/service-error.ts';
import { ShortLivedMap } from '@svc/service-kit/short-lived-map.ts';
import type { TurnJournal } from './turn-journal.ts';
import type { Turn } from './turn.ts';

/** Files and reactions of a running turn, which are sent with its reply. */
export type TurnActions = {
  begin(turn: Turn): void;
  /** @throws ServiceError `conflict` when the turn is over, `busy` when it has no room for another action. */
  checkRoom(turn: Pick<Turn, 'id'>): void;
  /** Resolves when the action is in the journal: a turn that is run again still has it. @throws ServiceError as `checkRoom`. */
  add(turn: Pick<Turn, 'id'>, action: ExtraAction): Promise<void>;
  /** Takes the actions for the reply. From now on `add` refuses, so that no action is confirmed and then left out. Empty when called again. */
  end(turn: Pick<Turn, 'id'>): readonly ExtraAction[];
};

type Deps = { journal: Pick<TurnJournal, 'keepActions'>; db: Pick<Database, 'mark' | 'flush'> };
/** `stored` settles when the last added action is stored, or could not be. */
type Running = { turn: Turn; actions: readonly ExtraAction[]; stored: Promise<unknown> };

/** Stops a model that loops. */
const maxActions = 10;

export function createTurnActions({ journal, db }: Deps): TurnActions {
  const running = new ShortLivedMap<string, Running>();

  const take = ({ id }: Pick<Turn, 'id'>): Running => {
    const found = running.get(id);
    if (found === undefined) throw isOver();
    if (found.actions.length < maxActions) return found;
    throw new ServiceError('busy', `${maxActions} files and reactions already go with this reply, which is the limit.`);
  };

  /** An action goes with the reply only once it is in the journal: one that was refused to the tool must not be sent. */
  const store = async (of: Pick<Turn, 'id'>, action: ExtraAction): Promise<void> => {
    const found = take(of);
    const actions = [...found.actions, action];
    const since = db.mark();
    await journal.keepActions(found.turn, actions);
    await db.flush(since);
    if (running.get(of.id) !== found) throw isOver();
    found.actions = actions;
  };

  return {
    begin: (turn) => running.set(turn.id, { turn, actions: turn.actions ?? [], stored: Promise.resolve() }),
    checkRoom: (turn) => void take(turn),
    async add(of, action) {
      const found = take(of);
      // One after the other: each is stored with all before it.
      const own = found.stored.then(() => store(of, action));
      found.stored = Promise.allSettled([own]);
      await own;
    },
    end({ id }) {
      const actions = running.get(id)?.actions ?? [];
      running.delete(id);
      return actions;
    },
  };
}

const isOver = () => conflict('This turn is over: nothing can go with its reply any more.');
