import type { ListedSession } from '@svc/contract/session.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Database } from '@svc/store/database.ts';
import type { GitRoots } from '../map/git-roots.ts';
import type { SessionHosts, HostsByKey } from '../terminal/session-hosts.ts';
import type { TranscriptRow } from '../transcript/transcript-row.ts';
import type { TranscriptStore } from '../transcript/transcript-store.ts';
import type { CoreDirectory } from './core-directory.ts';
import { countActive, isActiveRow, readRows, selectRows, type SessionFilter } from './session-store.ts';
import { toListed, type SessionParts } from './to-listed.ts';
import type { ListPrices } from './list-prices.ts';
import type { SessionRow } from './session-row.ts';

type Deps = {
  db: Pick<Database, 'all' | 'get'>;
  transcripts: Pick<TranscriptStore, 'ofSessions'>;
  hosts: Pick<SessionHosts, 'current'>;
  core: Pick<CoreDirectory, 'refresh' | 'of'>;
  prices: ListPrices;
  gitRoots: GitRoots;
  clock: Pick<Clock, 'now'>;
};

/** One list of all sessions, each once, combined from events, the core, transcripts and running programs. */
export type SessionList = {
  /** Newest first. */
  list(filter: SessionFilter): Promise<ListedSession[]>;
  countActive(): Promise<number>;
  /** Those of these keys that exist, in no order. */
  readAll(keys: readonly string[]): Promise<ListedSession[]>;
};

export function createSessionList({ db, transcripts, hosts, core, prices, gitRoots, clock }: Deps): SessionList {
  const putTogether = async (rows: readonly SessionRow[], running: HostsByKey): Promise<ListedSession[]> => {
    const files = await transcripts.ofSessions(rows.map(({ conversation_key }) => conversation_key));
    const byKey = new Map<string, TranscriptRow>();
    for (const row of files) if (row.conversation_key !== null) byKey.set(row.conversation_key, row);
    return Promise.all(
      rows.map(async (row) => {
        const key = row.conversation_key;
        const parts: SessionParts = {
          transcript: byKey.get(key),
          host: running?.get(key),
          facts: core.of(key),
          costOf: prices.costOf,
          isHostKnown: running !== null,
          isRecent: isActiveRow(row, clock.now()),
        };
        const listed = toListed(row, parts);
        return { ...listed, repo: listed.cwd === null ? null : await gitRoots.rootOf(listed.cwd) };
      }),
    );
  };

  return {
    async list(filter) {
      const [running] = await Promise.all([hosts.current(), core.refresh(), prices.refresh()]);
      const listed: ListedSession[] = [];
      // Sessions that are active in the database may have ended; such rows must not use up the page.
      for (let { before } = filter; ;) {
        const rows = await selectRows(db, { ...filter, before }, keysOf(running), clock.now());
        const sessions = await putTogether(rows, running);
        listed.push(...(filter.active ? sessions.filter(({ active }) => active) : sessions));
        const last = rows.at(-1);
        if (last === undefined || rows.length < filter.limit || listed.length >= filter.limit)
          return listed.slice(0, filter.limit);
        before = last.last_event_at;
      }
    },
    countActive: async () => countActive(db, keysOf(await hosts.current()), clock.now()),
    async readAll(keys) {
      const [rows, running] = await Promise.all([readRows(db, keys), hosts.current()]);
      return putTogether(rows, running);
    },
  };
}

const keysOf = (running: HostsByKey): string[] | null => running && [...running.keys()];
