import type { Attachment } from '@svc/contract/envelope.ts';
import type { ErrorBody } from '@svc/contract/error-body.ts';
import type { HistoryMessage } from '@svc/contract/session.ts';
import type { Action, HandleResult, ToolUse, TurnState } from '@svc/contract/turn.ts';
import { parseSteps } from '@svc/service-kit/json/parse-steps.ts';
import { createPace, inTurns } from '@svc/service-kit/redaction/pace.ts';
import type { LiveTurns } from '../turn/live-turns.ts';
import type { HistoryRow } from '../turn/turn-history.ts';

type Live = LiveTurns['byId'];

/**
 * The messages of turns, in order. Replies may be long, so other work can run between them. `live`: the turns that wait or
 * run, whose state is more current than the journal's.
 */
export async function toMessages(rows: readonly HistoryRow[], live: Live): Promise<HistoryMessage[]> {
  const pace = createPace();
  const messages: HistoryMessage[] = [];
  for (const row of inTime(rows)) {
    const result = row.result === null ? null : ((await inTurns(parseSteps(bufferOf(row.result)))).value as HandleResult);
    messages.push(...messagesOf(row, result, live));
    if (pace.isDue()) await pace.pause();
  }
  return messages;
}

/** Text typed in a terminal is journaled when the terminal ends, after later messages of the channel. So rows are sorted by time. */
const inTime = (rows: readonly HistoryRow[]): readonly HistoryRow[] =>
  rows.some(({ origin }) => origin === 'terminal') ? rows.toSorted((one, other) => one.accepted_at - other.accepted_at) : rows;

const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, byteLength);

/** The message and the reply of a turn. A message that was merged into a later one is shown there. */
function messagesOf(row: HistoryRow, result: HandleResult | null, live: Live): HistoryMessage[] {
  if (result?.outcome === 'merged') return [];
  const turn = {
    turn_id: row.id,
    message_id: row.origin === 'terminal' ? null : row.message_id,
    state: stateOf(row, live),
    outcome: result?.outcome ?? null,
  };
  const asked: HistoryMessage = {
    ...turn,
    role: row.origin === 'inject' ? 'operator' : 'user',
    sender: row.sender,
    text: row.text === null ? '' : bufferOf(row.text).toString(),
    at: row.accepted_at,
    attachments: listOf<Attachment>(row.attachments),
    tools: toolsOf(row, live),
  };
  const answer = (role: 'assistant' | 'error', text: string): HistoryMessage => ({
    ...turn,
    role,
    sender: null,
    text,
    at: row.ended_at ?? row.accepted_at,
    attachments: [],
    tools: [],
  });
  const shown = (action: Action): HistoryMessage => {
    if (action.type === 'reply') return answer('assistant', action.text);
    if (action.type === 'react') return answer('assistant', action.emoji);
    const { path, name, mime } = action;
    return { ...answer('assistant', ''), attachments: [{ path, name, mime }] };
  };
  const answers = (result?.actions ?? []).map((action) => shown(action));
  if (row.is_too_long === 1) answers.push(answer('assistant', 'This reply is too long to be shown here.'));
  const failure = row.error === null ? [] : [answer('error', (JSON.parse(row.error) as ErrorBody).message)];
  return [asked, ...answers, ...failure];
}

/** The journal's state of an open turn may come from an earlier process: only the live turn knows whether it runs now. */
function stateOf({ id, state }: HistoryRow, live: Live): TurnState {
  if (state !== 'queued' && state !== 'running') return state;
  return live(id)?.isRunning === true ? 'running' : 'queued';
}

const toolsOf = ({ id, tools }: HistoryRow, live: Live): ToolUse[] =>
  tools === null ? (live(id)?.tools ?? []).map((tool) => ({ ...tool })) : listOf<ToolUse>(tools);

const listOf = <T>(json: string | null): T[] => (json === null ? [] : (JSON.parse(json) as T[]));
