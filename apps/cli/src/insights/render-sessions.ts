import type { Style } from '../terminal.ts';
import { duration } from '../status/render-status.ts';
import { amount, line, usd } from './words.ts';

/** What the collector tells of a session, as far as it is shown. Times are epoch ms. */
export type SessionFacts = {
  conversation_key: string;
  surface: string | null;
  identity: string | null;
  principal: string | null;
  state: string;
  active: boolean;
  last_event_at: number;
  last_text: string | null;
  turns: number;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number;
};

export function renderSessions(sessions: readonly SessionFacts[], now: number, style: Style): string {
  if (sessions.length === 0) return 'There are none.';
  return sessions.flatMap((session) => block(session, now, style)).join('\n');
}

function block(session: SessionFacts, now: number, style: Style): string[] {
  const { conversation_key, principal, identity, state, active, last_event_at, turns, cost_usd, last_text } = session;
  const isRunning = state === 'running';
  const mark = isRunning ? style.green('running') : active ? 'active' : style.dim('idle');
  const tokens = amount(session.input_tokens + session.output_tokens);
  const who = line(principal ?? identity ?? 'somebody', 60);
  const facts = [mark, who, `${turns} turns`, `${tokens} tokens`, usd(cost_usd), `${duration(now - last_event_at)} ago`];
  return [
    `  ${style.bold(line(conversation_key, 120))}`,
    `      ${facts.join(', ')}`,
    ...(last_text === null ? [] : [`      ${style.dim(`"${line(last_text, 100)}"`)}`]),
  ];
}
