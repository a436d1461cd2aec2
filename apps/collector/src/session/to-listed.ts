import type { ListedSession } from '@svc/contract/listed-session.ts';
import type { SessionHost } from '../terminal/session-hosts.ts';
import type { TranscriptRow } from '../transcript/transcript-row.ts';
import type { CoreFacts } from './core-directory.ts';
import type { SessionRow } from './session-row.ts';

export type SessionParts = {
  transcript: TranscriptRow | undefined;
  host: SessionHost | undefined;
  facts: CoreFacts | undefined;
  /** Without a host there is none; otherwise nobody knows. */
  isHostKnown: boolean;
  /** Something happened a short while ago, or a turn runs. */
  isRecent: boolean;
};

type Session = Omit<ListedSession, 'repo'>;

/** One row of all that is known. What the core says of its own sessions goes before what their transcripts do. */
export function toListed(row: SessionRow, parts: SessionParts): Session {
  const { transcript, host, facts } = parts;
  const { state_at: _at, last_text_at: _textAt, state: _state, ...told } = row;
  const own = transcript?.is_core === 0 ? transcript : undefined;
  return {
    ...told,
    source: own === undefined ? 'core' : host?.pane ? 'terminal' : 'transcript',
    state: stateOf(row, own, parts),
    active: host !== undefined || (own === undefined || !parts.isHostKnown ? parts.isRecent : false),
    engine_id: facts?.engine_id ?? transcript?.engine ?? null,
    engine_session_id: facts?.engine_session_id ?? transcript?.engine_session_id ?? null,
    model: facts?.model ?? transcript?.model ?? null,
    title: facts?.title ?? transcript?.title ?? null,
    cwd: facts?.cwd ?? transcript?.cwd ?? null,
    pid: host?.pid ?? null,
    ...terminalOf(facts, host),
    ...(own !== undefined && { input_tokens: own.input_tokens, output_tokens: own.output_tokens }),
  };
}

function stateOf(row: SessionRow, own: TranscriptRow | undefined, { host, facts, isHostKnown }: SessionParts): Session['state'] {
  if (own === undefined) return row.state === 'idle' && facts?.claimed_by ? 'claimed' : row.state;
  if (host === undefined && isHostKnown) return 'ended';
  return own.is_busy === 1 && host !== undefined ? 'running' : 'idle';
}

/** The core's word for where to type, or the terminal that the program was found in. */
function terminalOf(facts: CoreFacts | undefined, host: SessionHost | undefined): Pick<Session, 'multiplexer' | 'tmux_target'> {
  if (facts?.multiplexer) return { multiplexer: facts.multiplexer, tmux_target: facts.tmux_target };
  return host?.pane ? { multiplexer: 'tmux', tmux_target: host.pane.id } : { multiplexer: null, tmux_target: null };
}
