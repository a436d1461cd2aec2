import type { ExtraAction } from '@svc/contract/turn.ts';
import type { Database } from '@svc/store/database.ts';
import { conflict, ServiceError } from '@svc/service-kit/service-error.ts';
import type { TurnJournal } from './turn-journal.ts';
import type { Turn } from './turn.ts';

/** Files and reactions that a running turn has made, which leave with its reply. */
export type TurnActions = {
  begin(turn: Turn): void;
  /** Refuses what the turn can take no more of. @throws ServiceError `conflict`, `busy`. */
  checkRoom(turn: Pick<Turn, 'id'>): void;
  /** Resolves when it is in the journal: a turn that is run again has it. @throws ServiceError as `checkRoom`. */
  add(turn: Pick<Turn, 'id'>, action: ExtraAction): Promise<void>;
  of(turn: Pick<Turn, 'id'>): readonly ExtraAction[];
  end(turn: Pick<Turn, 'id'>): void;
};

type Deps = { journal: Pick<TurnJournal, 'keepActions'>; db: Pick<Database, 'flush'> };
type Running = { turn: Turn; actions: ExtraAction[] };

/** A model in a loop. */
const maxActions = 10;

export function createTurnActions({ journal, db }: Deps): TurnActions {
  const running = new Map<string, Running>();

  const take = ({ id }: Pick<Turn, 'id'>): Running => {
    const found = running.get(id);
    if (found === undefined) throw conflict('This turn is over: nothing can go with its reply any more.');
    if (found.actions.length < maxActions) return found;
    throw new ServiceError('busy', `${maxActions} files and reactions go with this reply already, which is the limit.`);
  };

  return {
    begin: (turn) => void running.set(turn.id, { turn, actions: [...(turn.actions ?? [])] }),
    checkRoom: (turn) => void take(turn),
    async add(of, action) {
      const { turn, actions } = take(of);
      actions.push(action);
      await journal.keepActions(turn, actions);
      await db.flush();
    },
    of: ({ id }) => running.get(id)?.actions ?? [],
    end: ({ id }) => void running.delete(id),
  };
}
