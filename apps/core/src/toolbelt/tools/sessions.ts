import type { Session } from '@svc/contract/session.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { toSession } from '../../session/session-view.ts';
import { conversationOf, rightsOf, type ToolCaller } from '../tool-caller.ts';
import { isoTime, type Tool, type ToolDeps } from './tool.ts';

/** What the collector knows of a session. */
type Collected = {
  conversation_key: string;
  surface: string | null;
  principal: string | null;
  state: string;
  last_event_at: number;
};
type Shown = { conversation_key: string; surface: string | null; principal: string | null; last_active_at: string };

const activeMs = 15 * 60_000;
const maxSessions = 200;

/**
 * The sessions in which a turn runs or waits, or something happened in the last 15 minutes: the core's own, and those
 * that only the collector hears of.
 */
export const listSessions: Tool<'svc_sessions'> = async (deps, caller) => {
  const [own, { collected, note }] = await Promise.all([ownSessions(deps, caller), askCollector(deps, caller)]);
  const principals = new Map(collected.map(({ conversation_key, principal }) => [conversation_key, principal]));
  const here = conversationOf(caller);
  const sessions: Shown[] = own.map((session) => ({
    ...summary(session),
    principal: principals.get(session.conversation_key) ?? null,
    ...(session.conversation_key === here && { this_conversation: true }),
  }));
  const known = new Set(own.map(({ conversation_key }) => conversation_key));
  sessions.push(...collected.filter(({ conversation_key }) => !known.has(conversation_key)).map(elsewhere));
  return { sessions, ...(note !== null && { note }) };
};

async function ownSessions({ sessions, turnQueue, clock }: ToolDeps, caller: ToolCaller): Promise<Session[]> {
  const rows = await sessions.list(clock.now() + 1, maxSessions);
  const isSeen = ({ conversation_key, principal_id }: Session) =>
    rightsOf(caller).reach === 'all' ||
    conversation_key === conversationOf(caller) ||
    (principal_id !== null && principal_id === caller.identity.principal_id);
  const isActive = ({ state, last_active_at }: Session) =>
    state === 'running' || state === 'queued' || clock.now() - last_active_at < activeMs;
  return rows.map((row) => toSession(row, turnQueue)).filter((session) => isSeen(session) && isActive(session));
}

/** Without the collector there is still most of it. */
async function askCollector({ readCollector }: ToolDeps, caller: ToolCaller) {
  const { reach } = rightsOf(caller);
  const { principal_key } = caller.identity;
  try {
    const { sessions } = await readCollector<{ sessions: Collected[] }>(`/api/sessions?active=1&limit=${maxSessions}`);
    const isSeen = ({ principal }: Collected) => reach === 'all' || (principal !== null && principal === principal_key);
    return { collected: sessions.filter(isSeen), note: null };
  } catch (error) {
    return { collected: [], note: `Only sessions of this service are listed. ${errorText(error)}` };
  }
}

const summary = ({ conversation_key, surface, state, title, cwd, engine_id, turns, last_active_at }: Session) => ({
  conversation_key,
  surface,
  state,
  title,
  cwd,
  engine_id,
  turns,
  last_active_at: isoTime(last_active_at),
});

const elsewhere = ({ conversation_key, surface, principal, state, last_event_at }: Collected) => ({
  conversation_key,
  surface,
  principal,
  state,
  last_active_at: isoTime(last_event_at),
});
