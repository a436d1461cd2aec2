import { maxTarget } from '@svc/contract/envelope.ts';
import type { Session } from '@svc/contract/session.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Database } from '@svc/store/database.ts';
import { bounded, cut } from '@svc/store/read-page.ts';
import { type EngineSession, noteEnded } from './ended-engine-sessions.ts';
import type { SessionCursor } from './session-cursor.ts';
import { createTerminalSessions, type TerminalSessions } from './terminal-sessions.ts';
import type { StoredTitleBy } from './title-store.ts';

/** A session as stored. The turn queue knows `running` and `queued` (see `session-view.ts`). */
export type SessionRow = Omit<Session, 'state' | 'working_folder' | 'title_by'> & {
  public: number;
  title_by: StoredTitleBy | null;
};

/** What a turn needs of its session. */
export type OpenSession = Pick<
  SessionRow,
  'conversation_key' | 'engine_id' | 'engine_session_id' | 'turns' | 'cwd' | 'title_by'
> & {
  /** Fencing number of the turn in its session: a turn with an older number changes nothing. */
  fence: number;
  /** How many turns of the conversation this engine has missed. */
  missed: number;
};

type EnginesRow = Pick<SessionRow, 'engine_id' | 'engine_session_id'> & { parked_sessions: string | null };

type IdleRow = Pick<SessionRow, 'conversation_key' | 'last_active_at'>;

type OpenedRow = Omit<OpenSession, 'missed'> & { parked_sessions: string | null };

/** The parked sessions of other engines: their resume ids, and how many turns the conversation had when they were parked. */
type Parked = Record<string, { id: string; turns: number }>;

/** What every turn records when it opens its session. */
export type SessionOpening = {
  conversation_key: string;
  surface: string;
  instance_id: string | null;
  principal_id: string | null;
  /** The turn came over the channel that its key names. */
  is_own: boolean;
  outbound_instance_id: string | null;
  outbound_target: string | null;
  public: number;
  engine_id: string;
  cwd: string;
  /** The newest announcement: this turn has read what is for it. */
  last_announce_id: number;
};

export type InstanceUse = { id: string; last_used_at: number; persons: number };

export type TurnTotals = {
  /** The engine's resume id, when it is not stored yet. */
  engine_session_id: string | null;
  input_tokens: number;
  output_tokens: number;
  /** Null when no price is known. Such turns are counted separately. */
  cost_usd: number | null;
  model: string | null;
};

// Earlier versions stored values of any length. One that is too long is ignored: if it were cut, it would name something else.
const columns = [
  'conversation_key, surface, instance_id, principal_id, engine_id, last_announce_id, public, title_by, turns, input_tokens',
  'output_tokens, cost_usd, unpriced_turns, created_at, last_active_at',
  bounded('outbound_instance_id', 4096),
  bounded('outbound_target', 4 * maxTarget),
  ...['engine_session_id', 'model', 'multiplexer', 'tmux_target', 'title'].map((column) => bounded(column, 4096)),
  bounded('cwd', 16_384),
  cut('claimed_by', 4096),
].join(', ');
const selectOne = `SELECT ${columns} FROM session WHERE conversation_key = ?`;
const selectCursor = 'SELECT last_announce_id FROM session WHERE conversation_key = ?';
const selectRecent = `SELECT ${columns} FROM session WHERE last_active_at <= ? AND (last_active_at < ? OR conversation_key > ?)
  ORDER BY last_active_at DESC, conversation_key LIMIT ?`;
// By key prefix, because the table is ordered by key.
const selectOwn = `SELECT ${columns} FROM session WHERE conversation_key > ? AND conversation_key < ? AND (? IS NULL OR principal_id = ?)
  AND last_active_at <= ? AND (last_active_at < ? OR conversation_key > ?) ORDER BY last_active_at DESC, conversation_key LIMIT ?`;
// By key, a page at a time: it needs no index, and blocks nothing for long.
const selectPage =
  'SELECT conversation_key, last_active_at FROM session WHERE conversation_key > ? ORDER BY conversation_key LIMIT ?';
const pageSize = 500;
const selectKeysOf = 'SELECT conversation_key FROM session WHERE principal_id = ?';
/** The most recently used sessions are enough, however many there are. */
const recent = 2000;
const selectUse = `SELECT instance_id AS id, MAX(last_active_at) AS last_used_at, COUNT(DISTINCT principal_id) AS persons
  FROM (SELECT instance_id, last_active_at, principal_id FROM session ORDER BY last_active_at DESC LIMIT ${recent}) AS recent
  WHERE instance_id IS NOT NULL GROUP BY instance_id`;
const insert = `
  INSERT INTO session (conversation_key, surface, instance_id, principal_id, engine_id, outbound_instance_id,
    outbound_target, public, cwd, last_announce_id, fence, created_at, last_active_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?)`;
// A resume id belongs to the engine that made it, so neither changes until it is known that the engine changes.
const always = `
    cwd = excluded.cwd,
    last_announce_id = MAX(session.last_announce_id, excluded.last_announce_id),
    fence = session.fence + 1,
    last_active_at = excluded.last_active_at
  RETURNING conversation_key, engine_id, engine_session_id, turns, cwd, title_by, fence, parked_sessions`;
// Only a session's own channel sets its owner and where it is pushed to. A target stays with its instance.
const upsertOwn = `${insert}
  ON CONFLICT (conversation_key) DO UPDATE SET
    surface = excluded.surface,
    instance_id = excluded.instance_id,
    principal_id = excluded.principal_id,
    public = excluded.public,
    outbound_instance_id = excluded.outbound_instance_id,
    outbound_target = CASE WHEN session.outbound_instance_id IS NOT DISTINCT FROM excluded.outbound_instance_id
      THEN COALESCE(excluded.outbound_target, session.outbound_target) ELSE excluded.outbound_target END,${always}`;
// A key that has no channel's form belongs to the channel that used it first.
const upsertOther = `${insert}
  ON CONFLICT (conversation_key) DO UPDATE SET
    principal_id = CASE WHEN session.surface = excluded.surface THEN excluded.principal_id ELSE session.principal_id END,
    public = CASE WHEN session.surface = excluded.surface THEN excluded.public ELSE session.public END,${always}`;
const updateEngine = `UPDATE session SET engine_id = ?, engine_session_id = ?, parked_sessions = ?
  WHERE conversation_key = ? AND fence = ?`;
const updateEngineSession = 'UPDATE session SET engine_session_id = ? WHERE conversation_key = ? AND fence = ?';
const updateTotals = `
  UPDATE session SET engine_session_id = COALESCE(?, engine_session_id), turns = turns + 1, input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,
    cost_usd = cost_usd + ?, unpriced_turns = unpriced_turns + ?, model = COALESCE(?, model)
  WHERE conversation_key = ? AND fence = ?`;
// The engine session that the turn continues, unless a later turn has taken over.
const selectReplaced = `SELECT engine_id, engine_session_id FROM session
  WHERE conversation_key = ? AND fence = ? AND engine_session_id IS NOT NULL AND engine_session_id <> ?`;
const selectEngines = `SELECT engine_id, engine_session_id, parked_sessions FROM session WHERE conversation_key = ? AND last_active_at < ?`;
const updateIdle = `UPDATE session SET engine_session_id = NULL, parked_sessions = NULL
  WHERE conversation_key = ? AND last_active_at < ?`;
const updateForgotten = 'UPDATE session SET title = NULL, title_by = NULL WHERE conversation_key = ?';
// A session that is open in a terminal is in use, however old its last turn is.
const selectWithEngines = `SELECT conversation_key, last_active_at,
    (engine_session_id IS NOT NULL OR parked_sessions IS NOT NULL) AND claimed_by IS NULL AND tmux_target IS NULL AS is_kept
  FROM session WHERE conversation_key > ? ORDER BY conversation_key LIMIT ?`;
const remove = 'DELETE FROM session WHERE conversation_key = ?';

/** Rows of sessions. */
export interface SessionStore extends TerminalSessions {
  read(key: string): Promise<SessionRow | undefined>;
  /** The newest announcement that a session has read; 0 for a new one. */
  announceCursor(key: string): Promise<number>;
  /** Newest first, after a position in the list. */
  list(after: SessionCursor, limit: number): Promise<SessionRow[]>;
  /** The same, for keys that begin with `prefix`, of one principal or, with null, of all. */
  listOf(own: { prefix: string; principalId: string | null }, after: SessionCursor, limit: number): Promise<SessionRow[]>;
  /** A page of the keys that were not used since `before`; `next` is the key to continue after, empty at the end. */
  idleSince(before: number, after: string): Promise<{ keys: string[]; next: string }>;
  /** The conversations of a principal. */
  keysOf(principalId: string): Promise<string[]>;
  /** When each instance was used last (epoch ms), and by how many people, from the most recently used sessions. */
  useOfInstances(): Promise<InstanceUse[]>;
  /** Creates or continues the session for a turn and gives the turn its fencing number. */
  open(opening: SessionOpening): Promise<OpenSession>;
  /** Keeps the engine's resume id as soon as it is known, so that a killed turn can be resumed. */
  keepEngineSession(session: OpenSession, engineSessionId: string): Promise<unknown>;
  /**
   * Adds a finished turn to the session's totals. A turn with an older fence changes nothing. The commit is not awaited:
   * a reply must not wait for a total, and the usage is already in the telemetry spool.
   */
  addTurn(session: OpenSession, totals: TurnTotals): Promise<unknown>;
  /** Ends all engine sessions of a conversation, so that the next turn begins a new one, and removes its title. */
  forgetSaid(key: string): Promise<unknown>;
  /** Ends the engine sessions of a page of conversations not used since `before`; returns the key to continue after, empty at the end. */
  forgetIdleEngines(before: number, after: string): Promise<string>;
  delete(key: string): Promise<number>;
}

/** Stores sessions by key. Only listing them costs more as their number grows. */
export function createSessionStore(db: Database, clock: Clock): SessionStore {
  /** Switches the conversation to another engine: the current engine session is parked, and a parked one of the other engine is resumed. */
  const changeEngine = async (row: OpenedRow, engineId: string): Promise<OpenSession> => {
    const { parked_sessions, ...session } = row;
    const { [engineId]: own, ...others } = JSON.parse(parked_sessions ?? '{}') as Parked;
    const left = row.engine_id !== null && row.engine_session_id !== null ? { [row.engine_id]: parkedOf(row) } : {};
    const parked = JSON.stringify({ ...others, ...left });
    await db.getDeferred(updateEngine, engineId, own?.id ?? null, parked, row.conversation_key, row.fence);
    return { ...session, engine_id: engineId, engine_session_id: own?.id ?? null, missed: row.turns - (own?.turns ?? 0) };
  };

  const endEngines = async (tx: Database, key: string, before: number): Promise<void> => {
    const row = await tx.get<EnginesRow>(selectEngines, key, before);
    if (row === undefined) return;
    await noteEnded(tx, engineSessionsOf(row), clock.now());
    await tx.run(updateIdle, key, before);
  };

  /** An engine that continued in a different session than requested has ended the requested one. */
  const replacing = (session: OpenSession, id: string | null, update: (on: Database) => Promise<unknown>): Promise<unknown> => {
    const { conversation_key, fence, engine_session_id } = session;
    if (id === null || engine_session_id === null) return update(db);
    return db.transaction(async (tx) => {
      await noteEnded(tx, await tx.all<EngineSession>(selectReplaced, conversation_key, fence, id), clock.now());
      return update(tx);
    });
  };

  return {
    ...createTerminalSessions(db),
    read: (key: string) => db.get<SessionRow>(selectOne, key),

    announceCursor: async (key: string): Promise<number> =>
      (await db.get<{ last_announce_id: number }>(selectCursor, key))?.last_announce_id ?? 0,

    list: ({ at, key }: SessionCursor, limit: number) => db.all<SessionRow>(selectRecent, at, at, key, limit),

    listOf: ({ prefix, principalId }, { at, key }: SessionCursor, limit: number) =>
      db.all<SessionRow>(selectOwn, prefix, `${prefix}\u{10ffff}`, principalId, principalId, at, at, key, limit),

    async idleSince(before: number, after: string) {
      const rows = await db.all<IdleRow>(selectPage, after, pageSize);
      const keys = rows.filter((row) => row.last_active_at < before).map((row) => row.conversation_key);
      return { keys, next: nextOf(rows) };
    },

    keysOf: async (principalId: string) =>
      (await db.all<{ conversation_key: string }>(selectKeysOf, principalId)).map(({ conversation_key: key }) => key),

    useOfInstances: () => db.all<InstanceUse>(selectUse),

    async open(opening: SessionOpening): Promise<OpenSession> {
      const now = clock.now();
      const row = await db.getDeferred<OpenedRow>(
        opening.is_own ? upsertOwn : upsertOther,
        opening.conversation_key,
        opening.surface,
        opening.instance_id,
        opening.principal_id,
        opening.engine_id,
        opening.outbound_instance_id,
        opening.outbound_target,
        opening.public,
        opening.cwd,
        opening.last_announce_id,
        now,
        now,
      );
      if (row === undefined) throw new Error('the session could not be stored');
      if (row.engine_id !== opening.engine_id) return changeEngine(row, opening.engine_id);
      const { conversation_key, engine_id, engine_session_id, turns, cwd, title_by, fence } = row;
      return { conversation_key, engine_id, engine_session_id, turns, cwd, title_by, fence, missed: 0 };
    },

    keepEngineSession: (session: OpenSession, engineSessionId: string) =>
      replacing(session, engineSessionId, (on) =>
        on.getDeferred(updateEngineSession, engineSessionId, session.conversation_key, session.fence),
      ),

    addTurn: (session: OpenSession, totals: TurnTotals) =>
      replacing(session, totals.engine_session_id, (on) =>
        on.getDeferred(
          updateTotals,
          totals.engine_session_id,
          totals.input_tokens,
          totals.output_tokens,
          totals.cost_usd ?? 0,
          totals.cost_usd === null ? 1 : 0,
          totals.model,
          session.conversation_key,
          session.fence,
        ),
      ),

    forgetSaid: (key: string) =>
      db.transaction(async (tx) => {
        await endEngines(tx, key, Number.MAX_SAFE_INTEGER);
        await tx.run(updateForgotten, key);
      }),

    async forgetIdleEngines(before: number, after: string) {
      const rows = await db.all<IdleRow & { is_kept: number }>(selectWithEngines, after, pageSize);
      for (const { conversation_key: key, last_active_at: at, is_kept } of rows)
        if (is_kept === 1 && at < before) await db.transaction((tx) => endEngines(tx, key, before));
      return nextOf(rows);
    },
    delete: (key: string) => db.run(remove, key),
  };
}

/** The key after which the next page begins; empty at the end. */
const nextOf = (rows: readonly IdleRow[]): string => (rows.length < pageSize ? '' : (rows.at(-1)?.conversation_key ?? ''));

function engineSessionsOf({ engine_id, engine_session_id, parked_sessions }: EnginesRow): EngineSession[] {
  const parked = Object.entries(JSON.parse(parked_sessions ?? '{}') as Parked).map(([id, { id: session }]) => [id, session]);
  return [[engine_id, engine_session_id], ...parked].flatMap(([id, session]) =>
    id && session ? [{ engine_id: id, engine_session_id: session }] : [],
  );
}

const parkedOf = ({ engine_session_id, turns }: OpenedRow) => ({ id: engine_session_id ?? '', turns });
