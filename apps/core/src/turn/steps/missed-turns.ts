import type { PriorMessage } from '@svc/contract/envelope.ts';
import { transcriptText } from '@svc/engine-kit/turn-text.ts';
import type { CoreContext } from '../../context.ts';
import { toMessages } from '../../session/history.ts';
import type { OpenSession } from '../../session/session-store.ts';
import type { Turn } from '../turn.ts';
import type { Prompt } from './build-prompt.ts';

/** Older ones are left out. */
const maxTurns = 20;

/**
 * The prompt for an engine that had no part in the last turns of the conversation, with what was said in them. One that
 * begins gets it as the past of its session, one that comes back as part of the message.
 */
export async function withMissedTurns(
  { journal }: Pick<CoreContext, 'journal'>,
  turn: Turn,
  prompt: Prompt,
  session: OpenSession,
): Promise<Prompt> {
  const before = turn.seq === 0 ? Number.MAX_SAFE_INTEGER : turn.seq;
  const { rows } = await journal.history(turn.envelope.conversation_key, before, Math.min(session.missed, maxTurns));
  const missed = rows.toReversed().flatMap(toMessages).flatMap(toPrior);
  if (missed.length === 0) return prompt;
  if (session.engine_session_id !== null) return { ...prompt, text: `${transcriptText(missed)}\n\n${prompt.text}` };
  return prompt.transcript.length > 0 ? prompt : { ...prompt, transcript: missed };
}

const toPrior = ({ role, text }: ReturnType<typeof toMessages>[number]): PriorMessage[] =>
  role === 'error' ? [] : [{ role: role === 'assistant' ? 'assistant' : 'user', text }];
