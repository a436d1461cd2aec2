import type { PriorMessage } from '@svc/contract/envelope.ts';
import { transcriptText } from '@svc/engine-kit/turn-text.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import type { HistoryMessage } from '@svc/contract/session.ts';
import { toMessages } from '../../session/history.ts';
import type { OpenSession } from '../../session/session-store.ts';
import type { TurnDeps } from '../turn-deps.ts';
import type { HistoryRow } from '../turn-history.ts';
import type { Turn } from '../turn.ts';
import type { Prompt } from './build-prompt.ts';

/** Older ones are left out. */
const maxTurns = 20;
/** How many rows are looked through: chat commands and refused messages lie between the turns. */
const maxLooked = 100;
/** Most characters of one message, and of all: a reply may be longer than a model can read. */
const maxChars = { message: 20_000, all: 100_000 };

/**
 * The prompt for an engine that missed the last turns of the conversation, with their messages. A new session gets them as
 * its history, a resumed one as part of the message.
 */
export async function withMissedTurns(
  { journal }: Pick<TurnDeps, 'journal'>,
  turn: Turn,
  prompt: Prompt,
  session: OpenSession,
): Promise<Prompt> {
  const before = turn.seq === 0 ? Number.MAX_SAFE_INTEGER : turn.seq;
  const { rows: looked } = await journal.ended(turn.envelope.conversation_key, before, maxLooked);
  const rows = looked.filter(wasAnswered).slice(0, Math.min(session.missed, maxTurns));
  const missed = newestWithin((await toMessages(rows.toReversed(), notLive)).flatMap(toPrior));
  if (missed.length === 0) return prompt;
  if (session.engine_session_id !== null) return { ...prompt, text: `${transcriptText(missed)}\n\n${prompt.text}` };
  return prompt.transcript.length > 0 ? prompt : { ...prompt, transcript: missed };
}

const engineField = '"engine_id":"';

/**
 * Whether an engine had the turn: only those count as missed, and a message that was kept from one engine is kept from the next. The field
 * is searched for, because results may be long; within a text its quotes would be escaped.
 */
const wasAnswered = ({ result, error, is_too_long }: HistoryRow): boolean =>
  is_too_long === 1 || error?.includes(engineField) === true || (result !== null && bytesOf(result).includes(engineField));

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, byteLength);

/** They have ended. */
const notLive = () => undefined;

function newestWithin(messages: readonly PriorMessage[]): PriorMessage[] {
  const kept: PriorMessage[] = [];
  let chars = 0;
  for (const { role, text } of messages.toReversed()) {
    const short = cutText(text, maxChars.message);
    chars += short.length;
    if (chars > maxChars.all) break;
    kept.unshift({ role, text: short === text ? text : `${short} […]` });
  }
  return kept;
}

const toPrior = ({ role, text }: HistoryMessage): PriorMessage[] =>
  role === 'error' ? [] : [{ role: role === 'assistant' ? 'assistant' : 'user', text }];
