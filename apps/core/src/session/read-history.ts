import type { History } from '@svc/contract/session.ts';
import { textsInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { notFound } from '@svc/service-kit/service-error.ts';
import type { Database } from '@svc/store/database.ts';
import type { Pipeline } from '../turn/pipeline.ts';
import type { TurnJournal } from '../turn/turn-journal.ts';
import { toMessages } from './history.ts';
import type { SessionStore } from './session-store.ts';

export type HistoryDeps = {
  db: Pick<Database, 'flush'>;
  sessions: Pick<SessionStore, 'read'>;
  pipeline: Pick<Pipeline, 'liveTurn'>;
  journal: Pick<TurnJournal, 'history'>;
  knownSecrets: Pick<KnownSecrets, 'redactor'>;
};

/** What was said in a conversation, masked. @throws ServiceError `not_found`. */
export async function readHistory(
  { db, sessions, pipeline, journal, knownSecrets }: HistoryDeps,
  key: string,
  { limit, before }: { limit: number; before: number },
): Promise<History> {
  const { rows, next } = await journal.history(key, before, limit);
  await db.flush(); // what is shown is not forgotten
  if (rows.length === 0 && (await sessions.read(key)) === undefined) throw notFound('session', key);
  const messages = await toMessages(rows.toReversed(), pipeline.liveTurn);
  const texts = await textsInSlices(
    knownSecrets.redactor(),
    messages.map(({ text }) => text),
  );
  return { messages: messages.map((message, i) => ({ ...message, text: texts[i] ?? '' })), next };
}
