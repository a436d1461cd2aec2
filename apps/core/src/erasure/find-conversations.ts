import type { ErasedConversation } from '@svc/contract/erasure.ts';
import type { Identifier } from '@svc/contract/trust.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import type { SessionStore } from '../session/session-store.ts';
import type { TurnHistory } from '../turn/turn-history.ts';

type Names = readonly Pick<Identifier, 'surface' | 'value'>[];
export type FindDeps = {
  sessions: Pick<SessionStore, 'keysOf'>;
  journal: Pick<TurnHistory, 'senders'>;
  /** The normalized form of a name on a surface, as trust uses it. */
  toIdentifierValue(surface: string, value: string): string;
};

/**
 * The conversations that a person took part in: their sessions, and those in which they wrote. Every turn is read: erasing is rare, and an
 * index for it would slow down each turn.
 */
export async function findConversations(
  { sessions, journal, toIdentifierValue }: FindDeps,
  { principal_id, identifiers }: { principal_id: string; identifiers: Names },
): Promise<ErasedConversation[]> {
  const nameOf = (surface: string, value: string) => compositeKey(surface, toIdentifierValue(surface, value));
  const own = new Set(identifiers.map(({ surface, value }) => nameOf(surface, value)));
  const theirs = new Set(await sessions.keysOf(principal_id));
  const ofOthers = new Set<string>();
  for await (const { conversation_key: key, channel, sender } of journal.senders()) {
    const isOwn = own.has(nameOf(channel ?? channelOf(key), sender));
    (isOwn ? theirs : ofOthers).add(key);
  }
  return [...theirs].map((key) => ({ key, is_shared: ofOthers.has(key) }));
}

/** For rows that do not state the channel of their message. */
const channelOf = (key: string): string => key.slice(0, Math.max(key.indexOf(':'), 0));
