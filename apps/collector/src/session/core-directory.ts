import type { Session } from '@svc/contract/session.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';

/** What the core knows of a session and events do not say. */
export type CoreFacts = Pick<
  Session,
  'engine_id' | 'engine_session_id' | 'model' | 'title' | 'cwd' | 'claimed_by' | 'multiplexer' | 'tmux_target'
>;

const pageSize = 100;
/** How far back the core is asked, and how long an answer may take. */
const maxPages = 100;
const timeoutMs = 2000;
const patienceMs = 400;
const trustMs = 2000;
/** When so many are known, all are forgotten before the core is asked again. */
const maxKnown = 20_000;

/** `next`: the `before` of the older page. */
type Page = { sessions: Session[]; next: string | null };
type Ask = (before: string | null) => Promise<Page>;

/** The sessions of the core, as of its last answer. It is asked on demand, and never in the path of a turn. */
export type CoreDirectory = {
  /** Brings what is known up to date, within a moment: a core that does not answer holds nobody up. */
  refresh(): Promise<void>;
  of(key: string): CoreFacts | undefined;
  /** The session that an engine's session belongs to, which was active at `since` (epoch ms) or later; null when none does. */
  keyOf(engineSessionId: string, since: number): Promise<string | null>;
};

export function createCoreDirectory(coreUrl: string, clock: Clock, ask: Ask = askCore(coreUrl)): CoreDirectory {
  const facts = new Map<string, CoreFacts>();
  const byEngineSession = new Map<string, string>();
  let askedAt = Number.NEGATIVE_INFINITY;
  /** All that was active between these times is known, and nobody was active later when the core was asked last. */
  let knownFrom = Number.POSITIVE_INFINITY;
  let knownTo = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | null = null;

  const take = (session: Session) => {
    const { conversation_key, engine_id, engine_session_id, model, title, cwd, claimed_by, multiplexer, tmux_target } = session;
    facts.set(conversation_key, { engine_id, engine_session_id, model, title, cwd, claimed_by, multiplexer, tmux_target });
    if (engine_session_id !== null) byEngineSession.set(engine_session_id, conversation_key);
  };
  const forgetAll = () => {
    facts.clear();
    byEngineSession.clear();
    knownFrom = Number.POSITIVE_INFINITY;
    knownTo = Number.NEGATIVE_INFINITY;
  };
  const readFrom = async (since: number): Promise<void> => {
    // Never in between: what was just read would be taken for known.
    if (facts.size >= maxKnown) forgetAll();
    const [from, to] = [knownFrom, knownTo];
    let before: string | null = null;
    for (let page = 0; page < maxPages; page++) {
      const { sessions, next }: Page = await ask(before);
      for (const session of sessions) take(session);
      // More sessions that were active with the last of a page may stand on the next one.
      const wholeFrom = next === null ? Number.NEGATIVE_INFINITY : (sessions.at(-1)?.last_active_at ?? 0) + 1;
      // What was known before counts when this goes back as far: between the two may be sessions that nobody has seen.
      knownFrom = wholeFrom <= to ? Math.min(from, wholeFrom) : wholeFrom;
      if (before === null) knownTo = sessions[0]?.last_active_at ?? to;
      if (next === null || wholeFrom <= since) return;
      before = next;
    }
  };
  /** The newest page, and on to what was active at a time. Never rejects. */
  const sync = (since: number): Promise<void> => {
    askedAt = clock.elapsed();
    return (asking ??= readFrom(since)
      .catch(() => undefined) // the core is away: its last answer stands
      .finally(() => (asking = null)));
  };

  const isStale = (): boolean => clock.elapsed() - askedAt >= trustMs;

  return {
    async refresh() {
      if (!isStale()) return;
      await Promise.race([
        sync(Number.POSITIVE_INFINITY),
        new Promise((resolve) => void setTimeout(resolve, patienceMs).unref()),
      ]);
    },
    of: (key) => facts.get(key),
    async keyOf(engineSessionId, since) {
      const isOpen = isStale() || knownFrom > since;
      const isUnknown = () => !byEngineSession.has(engineSessionId);
      const isJoining = asking !== null;
      if (isUnknown() && isOpen) await sync(since);
      // What was asked already may not have been to go back that far.
      if (isUnknown() && isJoining && knownFrom > since) await sync(since);
      return byEngineSession.get(engineSessionId) ?? null;
    },
  };
}

const askCore =
  (coreUrl: string): Ask =>
  async (before) => {
    const url = `${coreUrl}/v2/sessions?limit=${pageSize}${before === null ? '' : `&before=${before}`}`;
    const { status, body } = await requestJson<Page>(url, { timeoutMs });
    if (status !== 200) throw new Error(`the core answered ${status}`);
    return body;
  };
