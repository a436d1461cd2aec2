import type { ListedSession } from '@svc/contract/session.ts';
import type { SessionHost } from '../terminal/session-hosts.ts';
import { isTerminalKey } from '@svc/service-kit/transcript/transcript-line.ts';
import type { TranscriptRow } from '../transcript/transcript-row.ts';
import type { CoreFacts } from './core-directory.ts';
import type { ListPrices } from './list-prices.ts';
import type { SessionRow } from './session-row.ts';

export type SessionParts = {
  transcript: TranscriptRow | undefined;
  host: SessionHost | undefined;
  facts: CoreFacts | undefined;
  /** Whether running programs are known. If not, a missing host says nothing. */
  isHostKnown: boolean;
  /** List price of tokens, USD; null if it is unknown. */
  costOf: ListPrices['costOf'];
  /** There was an event a short while ago, or a turn runs. */
  isRecent: boolean;
};

type Session = Omit<ListedSession, 'repo'>;

/** Combines everything that is known about a session. For sessions of the core, its facts take precedence over transcripts. */
export function toListed(row: SessionRow, parts: SessionParts): Session {
  const { transcript, host, facts } = parts;
  const { state_at: _at, last_text_at: _textAt, state: _state, ...reported } = row;
  const isOwn = isOfEngine(row, parts);
  return {
    ...reported,
    // If nothing has a price, the sum is unknown, not zero.
    cost_usd: row.unpriced > 0 && row.cost_usd === 0 ? null : row.cost_usd,
    source: !isOwn ? 'core' : host?.pane ? 'terminal' : 'transcript',
    state: isOwn ? stateOfProgram(parts) : stateOfTurn(row, facts),
    active: host !== undefined || (!isOwn || !parts.isHostKnown ? parts.isRecent : false),
    engine_id: facts?.engine_id ?? transcript?.engine ?? null,
    engine_session_id: facts?.engine_session_id ?? transcript?.engine_session_id ?? null,
    model: facts?.model ?? transcript?.model ?? null,
    // The title in events first: the core's list contains only its newest sessions.
    title: row.title ?? facts?.title ?? transcript?.title ?? null,
    // The first lines of a transcript may not name the folder.
    cwd: facts?.cwd ?? transcript?.cwd ?? host?.cwd ?? null,
    pid: host?.pid ?? null,
    ...terminalOf(facts, host),
    ...(isOwn && usedBy(parts)),
  };
}

/** The usage of a program that a person started. If its model changed, the price of the last one is used for all. */
function usedBy({ transcript, costOf }: SessionParts) {
  const { model = null, input_tokens = null, output_tokens = null } = transcript ?? {};
  const { cache_read_tokens = null, cache_write_tokens = null, cache_write_1h_tokens } = transcript ?? {};
  const isKnown = input_tokens !== null && output_tokens !== null && cache_read_tokens !== null && cache_write_tokens !== null;
  const hour = { cache_write_1h_tokens: cache_write_1h_tokens ?? 0 };
  const cost_usd = isKnown
    ? costOf(model, { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, ...hour })
    : null;
  return { input_tokens, output_tokens, cost_usd, billed_cost_usd: null };
}

/** Whether a session is not one of the core. Its transcript may have been removed. */
const isOfEngine = ({ conversation_key }: SessionRow, { transcript, facts }: SessionParts): boolean =>
  transcript === undefined ? facts === undefined && isTerminalKey(conversation_key) : transcript.is_core === 0;

const stateOfTurn = ({ state }: SessionRow, facts: CoreFacts | undefined): Session['state'] =>
  state === 'idle' && facts?.claimed_by ? 'claimed' : state;

function stateOfProgram({ transcript, host, isHostKnown }: SessionParts): Session['state'] {
  if (host === undefined && isHostKnown) return 'ended';
  return transcript?.is_busy === 1 && host !== undefined ? 'running' : 'idle';
}

/** The terminal according to the core, else the one in which the program was found. */
function terminalOf(facts: CoreFacts | undefined, host: SessionHost | undefined): Pick<Session, 'multiplexer' | 'tmux_target'> {
  if (facts?.multiplexer) return { multiplexer: facts.multiplexer, tmux_target: facts.tmux_target };
  return host?.pane ? { multiplexer: 'tmux', tmux_target: host.pane.id } : { multiplexer: null, tmux_target: null };
}
