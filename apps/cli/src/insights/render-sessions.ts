import type { ListedSession } from '@svc/contract/session.ts';
import { shortPath } from '@svc/service-kit/short-path.ts';
import { counted, duration } from '@svc/service-kit/words.ts';
import type { Style } from '../terminal.ts';
import { amount, line, usd } from './words.ts';

const width = 80;
const indent = '      ';
const room = width - indent.length;

/** A block for each session: title, person and use, place, and last message. No line is wider than 80 columns. */
export function renderSessions(sessions: readonly ListedSession[], now: number, style: Style): string {
  if (sessions.length === 0) return 'There are none.';
  return sessions.flatMap((session) => block(session, now, style)).join('\n');
}

function block(session: ListedSession, now: number, style: Style): string[] {
  const { conversation_key: key, title, last_text } = session;
  const name = title === null ? style.bold(line(key, 120)) : style.bold(line(title, room));
  const [mark, shown] = stateOf(session, style);
  const [first = '', ...others] = wrapped([mark, ...factsOf(session, now)]);
  const below = [
    ...(title === null ? [] : [style.dim(line(key, 120))]),
    shown + first.slice(mark.length),
    ...others,
    ...placeOf(session),
    ...(last_text === null ? [] : [style.dim(`"${line(last_text, room - 3)}"`)]),
  ];
  return [`  ${name}`, ...below.map((text) => indent + text)];
}

/** The word for the state, and its style. */
function stateOf({ state, active }: ListedSession, style: Style): [string, string] {
  const mark = state === 'idle' && active ? 'active' : state;
  const paint = {
    running: style.green,
    claimed: style.yellow,
    active: (text: string) => text,
    idle: style.dim,
    ended: style.dim,
  };
  return [mark, paint[mark](mark)];
}

function factsOf(session: ListedSession, now: number): string[] {
  const { principal, identity, surface, engine_id, model, turns, input_tokens, output_tokens, last_event_at } = session;
  const tokens = input_tokens === null || output_tokens === null ? null : tokenCount(input_tokens + output_tokens);
  return [
    line(principal ?? identity ?? 'unknown sender', 60),
    ...(surface === null ? [] : [line(surface, 30)]),
    ...(engine_id === null ? [] : [line([engine_id, model].filter(Boolean).join(' '), 60)]),
    // The turns of a session that was not followed are unknown.
    ...(turns === 0 ? [] : [counted(turns, 'turn')]),
    ...(tokens === null ? [] : [tokens]),
    ...costOf(session),
    `${duration(Math.max(0, now - last_event_at))} ago`,
  ];
}

/** Empty when it was free, or was not followed; a missing price does not mean free. */
function costOf({ cost_usd, unpriced, input_tokens }: ListedSession): string[] {
  if (cost_usd === null) return input_tokens === null ? [] : ['price unknown'];
  if (cost_usd === 0) return [];
  return [unpriced === 0 ? usd(cost_usd) : `${usd(cost_usd)} and ${unpriced} without a price`];
}

/** The folder, and the terminal that shows it. The end of a long path says more than its beginning. */
function placeOf({ cwd, repo, multiplexer, tmux_target, pid }: ListedSession): string[] {
  const terminal = multiplexer === null ? (pid === null ? '' : `process ${pid}`) : `${multiplexer} ${tmux_target ?? ''}`.trim();
  const shown = cwd === null ? '' : line(shortPath(cwd), 1024);
  const max = room - (terminal === '' ? 0 : terminal.length + 2) - (repo === null ? 0 : ' (git)'.length);
  const folder = shown.length > max ? `…${shown.slice(shown.length - max + 1)}` : shown;
  const parts = [`${folder}${folder !== '' && repo !== null ? ' (git)' : ''}`, line(terminal, 200)];
  return parts.some(Boolean) ? [parts.filter(Boolean).join(', ')] : [];
}

/** As many facts on a line as fit. */
function wrapped(facts: readonly string[]): string[] {
  const lines: string[] = [];
  for (const fact of facts) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 2 + fact.length <= room) lines[lines.length - 1] = `${last}, ${fact}`;
    else lines.push(fact);
  }
  return lines;
}

const tokenCount = (count: number): string => `${amount(count)} ${count === 1 ? 'token' : 'tokens'}`;
