import type { Session } from '@svc/contract/session.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';

/** What the core knows about a session that is not in events. */
export type CoreFacts = Pick<
  Session,
  'engine_id' | 'engine_session_id' | 'model' | 'title' | 'cwd' | 'claimed_by' | 'multiplexer' | 'tmux_target'
>;

const pageSize = 100;
/** How many pages are requested from the core, and how long an answer may take. */
const maxPages = 100;
const timeoutMs = 2000;
const patienceMs = 400;
const trustMs = 2000;
/** When this many are known, all are forgotten before the core is asked again. */
const maxKnown = 20_000;

/** `next`: the `before` of the next, older page. */
type Page = { sessions: Session[]; next: string | null };
type Ask = (before: string | null) => Promise<Page>;

/** The sessions of the core, as of its last answer. It is asked on demand, never during a turn. */
export type CoreDirectory = {
  /** Updates what is known. Waits only a moment, so that a core that does not answer delays nothing. */
  refresh(): Promise<void>;
  of(key: string): CoreFacts | undefined;
  /** The core has deleted the session. */
  forget(key: string): void;
  /** The session to which an engine's session belongs, if it was active at `since` (epoch ms) or later; else null. */
  keyOf(engineSessionId: string, since: number): Promise<string | null>;
};

export function createCoreDirectory(coreUrl: string, clock: Clock, ask: Ask = askCore(coreUrl)): CoreDirectory {
  const facts = new Map<string, CoreFacts>();
  const byEngineSession = new Map<string, string>();
  let askedAt = Number.NEGATIVE_INFINITY;
  /** All sessions last active between these times are known; when the core was asked last, none was active later. */
  let knownFrom = Number.POSITIVE_INFINITY;
  let knownTo = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | null = null;
  /** Deleted since the core was asked: its answer may still contain them. */
  const deleted = new Set<string>();

  const take = (session: Session) => {
    if (deleted.has(session.conversation_key)) return;
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
    // Not between pages: the sessions just read would be forgotten, but count as known.
    if (facts.size >= maxKnown) forgetAll();
    const [from, to] = [knownFrom, knownTo];
    let before: string | null = null;
    for (let page = 0; page < maxPages; page++) {
      const { sessions, next }: Page = await ask(before);
      for (const session of sessions) take(session);
      // The next page may have more sessions with the time of the last one on this page.
      const wholeFrom = next === null ? Number.NEGATIVE_INFINITY : (sessions.at(-1)?.last_active_at ?? 0) + 1;
      // What was known before still counts if this page reaches back to it; otherwise there may be unseen sessions between them.
      knownFrom = wholeFrom <= to ? Math.min(from, wholeFrom) : wholeFrom;
      if (before === null) knownTo = sessions[0]?.last_active_at ?? to;
      if (next === null || wholeFrom <= since) return;
      before = next;
    }
  };
  /** Reads the newest page and further ones, back to sessions that were active at `since`. Never rejects. */
  const sync = (since: number): Promise<void> => {
    askedAt = clock.elapsed();
    if (asking === null) deleted.clear();
    return (asking ??= readFrom(since)
      .catch(() => undefined) // the core does not answer: its last answer stays in use
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
    forget(key) {
      facts.delete(key);
      if (asking !== null) deleted.add(key);
    },
    async keyOf(engineSessionId, since) {
      const isOpen = isStale() || knownFrom > since;
      const isUnknown = () => !byEngineSession.has(engineSessionId);
      const isJoining = asking !== null;
      if (isUnknown() && isOpen) await sync(since);
      // The request that was already running may not go back that far.
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
