import { setImmediate as nextTick } from 'node:timers/promises';
import type { ErasedConversation } from '@svc/contract/erasure.ts';
import type { Identifier } from '@svc/contract/trust.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import type { Database } from '@svc/store/database.ts';

/** Turns that are looked at in one go of the event loop. */
const pageSize = 50;
const selectSessions = 'SELECT conversation_key FROM session WHERE principal_id = ?';
const selectTurns = `SELECT seq, conversation_key, channel, sender FROM turn
  WHERE seq > ? AND origin = 'message' ORDER BY seq LIMIT ${pageSize}`;

type Names = readonly Pick<Identifier, 'surface' | 'value'>[];
type Turn = { seq: number; conversation_key: string; channel: string | null; sender: string };
type Deps = {
  db: Pick<Database, 'all'>;
  /** The form in which trust knows a name on a surface. */
  toIdentifierValue(surface: string, value: string): string;
};

/**
 * The conversations that a person took part in: their sessions, and those in which they have said something. Every turn is looked at, a page at
 * a time: erasing is rare, and an index for it would cost each turn.
 */
export async function findConversations(
  { db, toIdentifierValue }: Deps,
  { principal_id, identifiers }: { principal_id: string; identifiers: Names },
): Promise<ErasedConversation[]> {
  const nameOf = (surface: string, value: string) => compositeKey(surface, toIdentifierValue(surface, value));
  const own = new Set(identifiers.map(({ surface, value }) => nameOf(surface, value)));
  const sessions = await db.all<{ conversation_key: string }>(selectSessions, principal_id);
  const theirs = new Set(sessions.map(({ conversation_key: key }) => key));
  const ofOthers = new Set<string>();
  for await (const { conversation_key: key, channel, sender } of turns(db)) {
    const isOwn = own.has(nameOf(channel ?? channelOf(key), sender));
    (isOwn ? theirs : ofOthers).add(key);
  }
  return [...theirs].map((key) => ({ key, is_shared: ofOthers.has(key) }));
}

async function* turns(db: Deps['db']): AsyncGenerator<Turn> {
  for (let after = 0; ;) {
    const page = await db.all<Turn>(selectTurns, after);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    after = last.seq;
    await nextTick();
  }
}

/** Of rows that do not say where their message came from. */
const channelOf = (key: string): string => key.slice(0, Math.max(key.indexOf(':'), 0));
