import type { ListedSession, Session } from '@svc/contract/session.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { listStart } from '../../session/session-cursor.ts';
import { toSession } from '../../session/session-view.ts';
import { conversationOf, reaches, type ToolCaller, seenBy } from '../tool-caller.ts';
import { isoTime, type Tool, type ToolDeps } from './tool.ts';

/** What the collector knows about a session. */
type Collected = Pick<
  ListedSession,
  | 'conversation_key'
  | 'source'
  | 'surface'
  | 'principal'
  | 'state'
  | 'title'
  | 'engine_id'
  | 'cwd'
  | 'repo'
  | 'multiplexer'
  | 'tmux_target'
  | 'turns'
  | 'last_event_at'
>;
/** `pane`: its tmux terminal. `repo`: the root of the git repository that it works in. */
type Shown = Omit<Collected, 'multiplexer' | 'tmux_target' | 'last_event_at' | 'state'> & {
  state: Collected['state'] | Session['state'];
  pane: string | null;
  last_active_at: string;
  this_conversation?: true;
};

const activeMs = 15 * 60_000;
const maxSessions = 200;

/**
 * The sessions with a running or queued turn, with a running program, or with an event in the last 15 minutes: the core's own, and those
 * that only the collector knows, such as the ones in terminals.
 */
export const listSessions: Tool<'svc_sessions'> = async (deps, caller) => {
  const [own, { collected, note }] = await Promise.all([ownSessions(deps, caller), askCollector(deps, caller)]);
  const told = new Map(collected.map((session) => [session.conversation_key, session]));
  const here = conversationOf(caller);
  const sessions: Shown[] = own.map((session) => ({
    ...summary(session, told.get(session.conversation_key)),
    ...(session.conversation_key === here && { this_conversation: true }),
  }));
  const known = new Set(own.map(({ conversation_key }) => conversation_key));
  sessions.push(...collected.filter(({ conversation_key }) => !known.has(conversation_key)).map(elsewhere));
  return { sessions, ...(note !== null && { note }) };
};

async function ownSessions(deps: ToolDeps, caller: ToolCaller): Promise<Session[]> {
  const { sessions, clock } = deps;
  const rows = await sessions.list(listStart, maxSessions);
  const isSeen = ({ conversation_key, principal_id }: Session) =>
    reaches(caller, conversation_key, principal_id !== null && principal_id === caller.identity.principal_id);
  const isActive = ({ state, last_active_at }: Session) =>
    state === 'running' || state === 'queued' || clock.now() - last_active_at < activeMs;
  return rows.map((row) => toSession(row, deps)).filter((session) => isSeen(session) && isActive(session));
}

/** Without the collector most of the list is still available. */
async function askCollector({ readCollector }: ToolDeps, caller: ToolCaller) {
  try {
    const { sessions } = await readCollector<{ sessions: Collected[] }>(`/api/sessions?active=1&limit=${maxSessions}`);
    return { collected: seenBy(caller, sessions), note: null };
  } catch (error) {
    return { collected: [], note: `Only sessions of this service are listed. ${errorText(error)}` };
  }
}

/** The core's own data of its session, with what only the collector knows. */
const summary = (session: Session, told: Collected | undefined): Shown => ({
  conversation_key: session.conversation_key,
  source: 'core',
  surface: session.surface,
  principal: told?.principal ?? null,
  state: session.state,
  title: session.title,
  engine_id: session.engine_id,
  cwd: session.cwd,
  repo: told?.repo ?? null,
  pane: paneOf(session) ?? (told === undefined ? null : paneOf(told)),
  turns: session.turns,
  last_active_at: isoTime(session.last_active_at),
});

const elsewhere = (session: Collected): Shown => ({
  conversation_key: session.conversation_key,
  source: session.source,
  surface: session.surface,
  principal: session.principal,
  state: session.state,
  title: session.title,
  engine_id: session.engine_id,
  cwd: session.cwd,
  repo: session.repo,
  pane: paneOf(session),
  turns: session.turns,
  last_active_at: isoTime(session.last_event_at),
});

const paneOf = ({ multiplexer, tmux_target }: Pick<Session, 'multiplexer' | 'tmux_target'>): string | null =>
  multiplexer === 'tmux' ? tmux_target : null;
