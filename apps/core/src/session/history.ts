import type { ErrorBody } from '@svc/contract/error-body.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { parseSteps } from '@svc/service-kit/json/parse-steps.ts';
import { createPace, inTurns } from '@svc/service-kit/redaction/pace.ts';
import type { HistoryRow } from '../turn/turn-journal.ts';

/** One side of a turn as the transcript shows it. Times are epoch ms. */
export type HistoryMessage = {
  turn_id: string;
  role: 'user' | 'operator' | 'assistant' | 'error';
  sender: string | null;
  text: string;
  at: number;
};

/** What was said in turns, in their order. Their replies may be long: everything else has its turn between them. */
export async function toMessages(rows: readonly HistoryRow[]): Promise<HistoryMessage[]> {
  const pace = createPace();
  const messages: HistoryMessage[] = [];
  for (const row of rows) {
    const result = row.result === null ? null : ((await inTurns(parseSteps(bufferOf(row.result)))).value as HandleResult);
    messages.push(...messagesOf(row, result));
    if (pace.isDue()) await pace.pause();
  }
  return messages;
}

const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, byteLength);

/** What was said in a turn and what came of it. A message that was merged into a later one is shown there. */
function messagesOf(row: HistoryRow, result: HandleResult | null): HistoryMessage[] {
  if (result?.outcome === 'merged') return [];
  const role = row.origin === 'inject' ? 'operator' : 'user';
  const text = row.text === null ? '' : bufferOf(row.text).toString();
  const asked: HistoryMessage = { turn_id: row.id, role, sender: row.sender, text, at: row.accepted_at };
  const at = row.ended_at ?? row.accepted_at;
  const answers = (result?.actions ?? []).map((action) => answer(row.id, 'assistant', action.text, at));
  if (row.is_too_long === 1) answers.push(answer(row.id, 'assistant', 'This reply is too long to be shown here.', at));
  const failure = row.error === null ? [] : [answer(row.id, 'error', (JSON.parse(row.error) as ErrorBody).message, at)];
  return [asked, ...answers, ...failure];
}

const answer = (turn_id: string, role: 'assistant' | 'error', text: string, at: number): HistoryMessage => ({
  turn_id,
  role,
  sender: null,
  text,
  at,
});
