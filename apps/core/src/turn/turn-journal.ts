import type { ErrorBody } from '@svc/contract/error-body.ts';
import type { ExtraAction, HandleResult, ToolUse, TurnState } from '@svc/contract/turn.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Database, Transaction } from '@svc/store/database.ts';
import { createTerminalTurns, type TerminalTurns } from './terminal-turns.ts';
import { createTurnHistory, type TurnHistory } from './turn-history.ts';
import { filesOf, inputOf, type JournalRow } from './turn-row.ts';
import { isByOperator, type Turn } from './turn.ts';

// No seq is used twice, even after the newest rows were removed, and none that the mark has passed.
const insert = `
  INSERT INTO turn (seq, id, conversation_key, message_id, sender, channel, public, origin, state, open, attempts, request_id, text,
    input, attachments, accepted_at)
  VALUES (MAX(?, COALESCE((SELECT MAX(seq) FROM turn), 0), (SELECT seq FROM turn_mark)) + 1,
    ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?) ON CONFLICT (conversation_key, message_id) DO NOTHING RETURNING seq`;
const columns =
  'seq, id, conversation_key, sender, channel, public, state, open, attempts, request_id, input, text, result, error, actions, accepted_at, amended';
const selectByMessage = `SELECT ${columns} FROM turn WHERE conversation_key = ? AND message_id = ?`;
const selectOpen = `SELECT ${columns} FROM turn
  WHERE seq > (SELECT seq FROM turn_mark) AND open = 1 ORDER BY seq`;
/** Joins the sessions, which store the instance: the journal does not, and a query per turn would cost more. */
const selectOpenByInstance = `SELECT session.instance_id AS id, COUNT(*) AS open FROM turn JOIN session ON session.conversation_key = turn.conversation_key
  WHERE turn.seq > (SELECT seq FROM turn_mark) AND turn.open = 1 AND session.instance_id IS NOT NULL GROUP BY session.instance_id`;
const updateStart = `UPDATE turn SET state = 'running', attempts = attempts + 1 WHERE seq = ?`;
const updateSetAside = `UPDATE turn SET state = 'queued' WHERE seq = ?`;
const updateInput = 'UPDATE turn SET text = ?, input = ?, attachments = ? WHERE seq = ? AND open = 1';
const updateAmended = 'UPDATE turn SET amended = ? WHERE seq = ?';
const updateAgain = `UPDATE turn SET id = ?, state = 'queued', open = 1, attempts = 0, request_id = ?, text = ?, input = ?,
  attachments = ?, tools = NULL, actions = NULL, error = NULL, accepted_at = ?, ended_at = NULL WHERE seq = ?`;
const updateActions = 'UPDATE turn SET actions = ? WHERE seq = ?';
const updateTools = 'UPDATE turn SET tools = ? WHERE seq = ?';
const updateEnd = 'UPDATE turn SET state = ?, open = 0, input = NULL, result = ?, ended_at = ? WHERE seq = ?';
// The input names the route, so it stays until the reply is on its way.
const updateReplied = 'UPDATE turn SET state = ?, result = ?, ended_at = ? WHERE seq = ?';
const updateFailed = `UPDATE turn SET state = 'failed', open = 0, input = NULL, error = ?, ended_at = ? WHERE seq = ?`;
// Only a reply that was made: a delivery may also concern a failure, or a message that has been run again since.
const updateState = `UPDATE turn SET state = ?, open = 0, input = NULL WHERE seq = ? AND id = ? AND state = 'replied'
  RETURNING forgotten`;
/** How many turns are removed at once: 50,000 would stop everything for seconds. */
const removedAtOnce = 200;
const removeEnded = `DELETE FROM turn WHERE seq IN
  (SELECT seq FROM turn WHERE conversation_key = ? AND open = 0 ORDER BY seq LIMIT ${removedAtOnce})`;
const hideReplied = `UPDATE turn SET forgotten = 1 WHERE conversation_key = ? AND open = 1 AND state = 'replied'`;
const updateMark = 'UPDATE turn_mark SET seq = ?';
const lowerMark = 'UPDATE turn_mark SET seq = MIN(seq, ?)';
/** Rows with a time after ?2 (now) were written while the clock was ahead. Each is removed together with the next row that has a correct time. */
const removeOld = `WITH dated AS (SELECT seq, accepted_at FROM turn WHERE accepted_at <= ?2 ORDER BY seq LIMIT 1)
  DELETE FROM turn WHERE seq IN (SELECT seq FROM (SELECT seq, accepted_at, open FROM turn ORDER BY seq LIMIT 500) AS oldest
    WHERE open = 0 AND (accepted_at < ?1 OR seq < (SELECT seq FROM dated WHERE accepted_at < ?1)))`;

/** How far the mark may lag behind, in turns. */
const markEvery = 256;

/** One row for each accepted message, from its acceptance to its delivery. */
export interface TurnJournal extends TurnHistory, TerminalTurns {
  /** Returns the turn's seq; null when the conversation has had a message with this id. */
  accept(turn: Turn, state: 'queued' | 'running'): Promise<number | null>;
  /** Reopens a failed turn, because its message was sent again. */
  again(turn: Turn): Promise<void>;
  start(turn: Turn): Promise<unknown>;
  /** Marks a turn that ran as waiting to be run again. */
  setAside(turn: Pick<Turn, 'seq'>): Promise<unknown>;
  /** `input`: `inputOf` the turn, made before, so that this begins at once. */
  keepInput(turn: Turn, input: string): Promise<unknown>;
  /** This version of the turn's message is known; older ones no longer count. */
  amended(turn: Pick<Turn, 'seq'>, version: number): Promise<unknown>;
  /** `isOpen`: the reply still has to reach its channel. `json`: a long result as JSON, made before. */
  end(turn: Turn, result: HandleResult, isOpen: boolean, json?: string, tx?: Transaction): Promise<unknown>;
  fail(turn: Pick<Turn, 'seq' | 'id'>, error: ErrorBody): Promise<unknown>;
  /** The tools that the turn has called; to be stored in the tick in which it ends. */
  keepTools(turn: Pick<Turn, 'seq'>, tools: readonly ToolUse[]): Promise<unknown>;
  /** Files and reactions of a running turn. */
  keepActions(turn: Pick<Turn, 'seq'>, actions: readonly ExtraAction[]): Promise<unknown>;
  /**
   * The reply reached the channel, or the outbox takes over from here (`replied`). The row of a forgotten conversation is then removed.
   * Resolves when that is committed, or done within `tx`; rejects when it may be lost.
   */
  settle(turn: Pick<Turn, 'seq' | 'id'>, state: 'delivered' | 'replied', tx?: Transaction): Promise<void>;
  find(key: string, messageId: string): Promise<JournalRow | undefined>;
  /** What an earlier process left open, oldest first. */
  open(): Promise<JournalRow[]>;
  /** How many turns are open at each instance that has any. */
  openByInstance(): Promise<{ id: string; open: number }[]>;
  /** Forgets the ended turns of a conversation. Waiting and running turns stay, and a reply in transit still arrives. */
  forget(key: string): Promise<number>;
  /** Removes some of the turns that ended before `before` (epoch ms); returns how many. */
  prune(before: number): Promise<number>;
}

/**
 * The record of every accepted turn, from acceptance to end. Writes are committed soon, not at once: a caller that acknowledges
 * one must await `Database.flush` first, so that nothing acknowledged can be lost with the process.
 */
export function createTurnJournal(db: Database, clock: Clock): TurnJournal {
  /** The ids of open turns by their seq. */
  const open = new Map<number, string>();
  const inOrder = createInputOrder();
  let marked = 0;
  /** The newest seq that was used, even for a row that was not stored in the end. */
  let newest = 0;

  const opened = (seq: number, id: string) => {
    open.set(seq, id);
    newest = seq;
    if (seq - marked < markEvery) return;
    marked = seq;
    // A mark that lags behind only costs the next start a moment.
    db.getDeferred(updateMark, Math.min(...open.keys()) - 1).catch(() => undefined);
  };

  /** A change that a full disk rolls back leaves the turn open, and the next start has to find it. */
  const closeWhenCommitted = async ({ seq, id }: Pick<Turn, 'seq' | 'id'>, since: number, tx?: Transaction): Promise<void> => {
    const close = () => open.get(seq) === id && open.delete(seq);
    if (tx !== undefined) return tx.afterCommit(close);
    await db.flush(since);
    close();
  };
  const closing = async (turn: Pick<Turn, 'seq' | 'id'>, change: (db: Database) => Promise<unknown>, tx?: Transaction) => {
    const since = db.mark();
    await change(tx ?? db);
    closeWhenCommitted(turn, since, tx).catch(() => undefined); // the caller that reports the end flushes, and gets the fault
  };

  return {
    ...createTurnHistory(db),
    ...createTerminalTurns(db),

    async accept(turn: Turn, state: 'queued' | 'running'): Promise<number | null> {
      const { envelope } = turn;
      const made = inOrder(envelope.conversation_key, inputOf(turn));
      const input = typeof made === 'string' ? made : await made;
      const row = await db.getDeferred<{ seq: number }>(
        insert,
        newest,
        turn.id,
        envelope.conversation_key,
        envelope.message_id ?? null,
        envelope.sender.raw_id,
        envelope.channel,
        envelope.public === true ? 1 : 0,
        isByOperator(turn) ? 'inject' : 'message',
        state,
        state === 'running' ? 1 : 0,
        turn.requestId,
        envelope.content.text,
        input,
        filesOf(turn),
        clock.now(),
      );
      if (row !== undefined) opened(row.seq, turn.id);
      return row?.seq ?? null;
    },

    async again(turn: Turn): Promise<void> {
      open.set(turn.seq, turn.id);
      const input = await inputOf(turn);
      const lowered = db.getDeferred(lowerMark, turn.seq - 1);
      const { text } = turn.envelope.content;
      const values = [turn.id, turn.requestId, text, input, filesOf(turn), clock.now(), turn.seq];
      await Promise.all([lowered, db.getDeferred(updateAgain, ...values)]);
    },

    start: (turn: Turn) => db.getDeferred(updateStart, turn.seq),
    setAside: ({ seq }: Pick<Turn, 'seq'>) => db.getDeferred(updateSetAside, seq),
    keepInput: (turn: Turn, input: string) =>
      db.getDeferred(updateInput, turn.envelope.content.text, input, filesOf(turn), turn.seq),
    amended: ({ seq }: Pick<Turn, 'seq'>, version: number) => db.getDeferred(updateAmended, version, seq),
    keepActions: ({ seq }: Pick<Turn, 'seq'>, actions: readonly ExtraAction[]) =>
      db.getDeferred(updateActions, JSON.stringify(actions), seq),
    keepTools: ({ seq }: Pick<Turn, 'seq'>, tools: readonly ToolUse[]) => db.getDeferred(updateTools, JSON.stringify(tools), seq),

    end(turn: Turn, result: HandleResult, isOpen: boolean, json = JSON.stringify(result), tx?: Transaction) {
      const state: TurnState = result.actions.length > 0 ? 'replied' : 'done';
      const at = clock.now();
      if (isOpen) return db.getDeferred(updateReplied, state, json, at, turn.seq);
      return closing(turn, (within) => within.getDeferred(updateEnd, state, json, at, turn.seq), tx);
    },

    fail: (turn: Pick<Turn, 'seq' | 'id'>, error: ErrorBody): Promise<unknown> =>
      closing(turn, () => db.getDeferred(updateFailed, JSON.stringify(error), clock.now(), turn.seq)),

    async settle(turn: Pick<Turn, 'seq' | 'id'>, state: 'delivered' | 'replied', tx?: Transaction): Promise<void> {
      const within = tx ?? db;
      const since = db.mark();
      const settled = await within.getDeferred<{ forgotten: number }>(updateState, state, turn.seq, turn.id);
      if (settled === undefined) return;
      if (settled.forgotten === 1) await within.run('DELETE FROM turn WHERE seq = ?', turn.seq);
      await closeWhenCommitted(turn, since, tx);
    },

    find: (key: string, messageId: string) => db.get<JournalRow>(selectByMessage, key, messageId),
    async open(): Promise<JournalRow[]> {
      const rows = await db.all<JournalRow>(selectOpen);
      for (const row of rows) open.set(row.seq, row.id);
      return rows;
    },
    openByInstance: () => db.all<{ id: string; open: number }>(selectOpenByInstance),
    async forget(key: string): Promise<number> {
      let [last] = await Promise.all([db.run(removeEnded, key), db.run(hideReplied, key)]);
      let removed = last;
      for (; last === removedAtOnce; removed += last) last = await db.run(removeEnded, key);
      return removed;
    },
    prune: (before: number) => db.run(removeOld, before, clock.now()),
  };
}

/**
 * Keeps messages whose input takes a while to serialize in order of arrival, within each conversation. The returned function
 * returns an input after those before it: at once where there are none.
 */
function createInputOrder(): (key: string, input: string | Promise<string>) => string | Promise<string> {
  const lasts = new Map<string, Promise<string>>();
  return (key, input) => {
    const before = lasts.get(key);
    if (before === undefined && typeof input === 'string') return input;
    const own = Promise.allSettled([before]).then(() => input);
    lasts.set(key, own);
    const leave = () => lasts.get(key) === own && lasts.delete(key);
    own.then(leave, leave);
    return own;
  };
}
