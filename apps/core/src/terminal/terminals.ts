import type { OpenTerminal, Terminal } from '@svc/contract/terminal.ts';
import type { EngineTerminal, TerminalRequest } from '@svc/engine-kit/engine.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import { conflict, queueFull, ServiceError, unavailable } from '@svc/service-kit/service-error.ts';
import type { Claims } from '../session/claims.ts';
import type { TerminalRow, TerminalSessions } from '../session/terminal-sessions.ts';
import { createRunningTerminals, reportLook, type RunningDeps } from './running-terminals.ts';
import { newSession, placeOf, turnInFlight, type Place, type PlaceDeps } from './terminal-place.ts';
import type { TerminalTalks } from './terminal-talks.ts';
import type { OpenPane, TmuxServer } from './tmux-server.ts';

/** Engines in terminals of the service. A session is claimed for as long as its engine's program runs there. */
export type Terminals = {
  /** @throws ServiceError that says what is wrong and what to do. */
  open(request: OpenTerminal): Promise<Terminal>;
  list(): Terminal[];
  get(id: string): Terminal;
  /** Ends the program and returns the session to the channel. @throws ServiceError `not_found` */
  end(id: string): Promise<void>;
  /** @throws ServiceError `conflict` for a session whose program runs in a terminal. */
  refuseOpen(conversationKey: string): void;
  /**
   * Finds the terminals that an earlier core started, and releases those that have ended; retries later when tmux does not answer. Called
   * once, at the start.
   */
  recover(): Promise<void>;
  /** Terminals live on; a tmux server that is known to have none is stopped. */
  close(): Promise<void>;
};

type Deps = PlaceDeps &
  RunningDeps & {
    tmux: TmuxServer;
    sessions: Pick<TerminalSessions, 'inTerminals' | 'enterTerminal' | 'leaveTerminal'>;
    claims: Pick<Claims, 'claim' | 'release' | 'forget'>;
    /** How to run an engine in a terminal, or why that is impossible. */
    programOf(engineId: string, request: Pick<TerminalRequest, 'resume' | 'cwd'>): Promise<EngineTerminal | { problem: string }>;
    talks: Pick<TerminalTalks, 'begin' | 'take'>;
    clock: Pick<Clock, 'now' | 'after' | 'every'>;
    ids: Ids;
  };

const maxTerminals = 32;
const retryMs = 5000;

export function createTerminals(deps: Deps): Terminals {
  const { tmux, sessions, claims, talks, events, clock, log } = deps;
  const running = createRunningTerminals(deps);
  /** Terminals being opened: they count towards the limit and block another terminal on the same session. */
  const opening = new Set<string>();
  /** Cancels the wait for the next attempt while the terminals of an earlier core are unknown. */
  let retry: (() => void) | null = null;

  const programFor = async ({ engineId, ...request }: Place): Promise<EngineTerminal> => {
    const program = await deps.programOf(engineId, request);
    if ('problem' in program) throw new ServiceError('unprocessable', program.problem);
    return program;
  };
  const start = async (place: Place): Promise<Terminal> => {
    const id = deps.ids.next('term');
    const fresh = place.key === null ? await programFor(place) : null;
    const key = place.key ?? (await newSession(deps, place, fresh?.engineSessionId ?? id));
    // Without an await in between: a turn that begins after the check finds the session claimed, and the next start finds a claim that is
    // cut off later.
    if (deps.isBusy(key)) throw turnInFlight();
    const noted = Promise.all([claims.claim(key, id), sessions.enterTerminal(key, id)]);
    try {
      await noted;
      events.claim(key, 'claimed', id);
      // Only now: while the program is prepared, no turn of the session may run.
      const program = fresh ?? (await programFor(place));
      await talks.begin(key, place.engineId, program, place.cwd);
      const pid = await tmux.open(id, { ...program, cwd: place.cwd });
      return running.keep({
        ...factsOf(tmux, id),
        conversation_key: key,
        engine_id: place.engineId,
        engine_session_id: program.engineSessionId,
        cwd: place.cwd,
        pid,
        started_at: clock.now(),
      });
    } catch (error) {
      await running.release(key, id);
      if (place.key === null) {
        claims.forget(key);
        await sessions.delete(key);
      }
      throw error;
    }
  };

  const recover = async (): Promise<void> => {
    const panes = await tmux.list().catch(panesWithoutTmux);
    if (panes === null) {
      if (retry === null) log.error({}, 'tmux could not list the terminals; it is asked again');
      retry = clock.after(retryMs, () => void recover().catch(reportLook(log)));
      return;
    }
    try {
      await takeUp(panes);
    } finally {
      retry = null;
    }
  };
  const takeUp = async (panes: readonly OpenPane[]): Promise<void> => {
    for (const row of await sessions.inTerminals()) {
      const pane = panes.find(({ id }) => id === row.id);
      if (pane === undefined) await running.release(row.conversation_key, row.id);
      else running.keep(toTerminal(tmux, row, pane));
    }
    // Terminals of sessions that were deleted meanwhile.
    for (const { id } of panes) if (!running.has(id)) await tmux.end(id);
  };

  return {
    async open(request) {
      if (retry !== null)
        throw unavailable('The terminals are not known yet, because tmux does not answer. Try again in a moment.');
      if (running.list().length + opening.size >= maxTerminals)
        throw queueFull(`There are ${maxTerminals} terminals already. End one (DELETE /v2/terminals/:id).`, 30);
      const mark = request.conversation_key ?? deps.ids.next('new');
      if (running.isOpen(mark) || opening.has(mark)) throw inTerminal(mark);
      opening.add(mark);
      try {
        return await start(await placeOf(deps, request));
      } finally {
        opening.delete(mark);
      }
    },
    list: running.list,
    get: running.get,
    end: running.end,
    refuseOpen(key) {
      if (running.isOpen(key)) throw inTerminal(key);
    },
    recover,
    async close() {
      const mayHaveAny = running.list().length > 0 || retry !== null;
      retry?.();
      running.close();
      if (!mayHaveAny) await tmux.stop().catch(() => undefined); // it is not running
    },
  };
}

const factsOf = ({ socket }: TmuxServer, id: string): Pick<Terminal, 'id' | 'attach'> => ({
  id,
  attach: ['tmux', '-S', socket, 'attach-session', '-t', `=${id}`],
});

const toTerminal = (tmux: TmuxServer, { engine_id, cwd, ...row }: TerminalRow, { pid, startedAt }: OpenPane): Terminal => ({
  ...row,
  ...factsOf(tmux, row.id),
  engine_id: engine_id ?? '',
  cwd: cwd ?? '',
  pid,
  started_at: startedAt,
});

/** No panes where tmux is not installed; null where it did not answer, because there may be some. */
const panesWithoutTmux = ({ cause }: { cause?: { code?: unknown } }): OpenPane[] | null => (cause?.code === 'ENOENT' ? [] : null);

const inTerminal = (key: string) =>
  conflict(
    `The session ${key.slice(0, 200)} is open in a terminal. End the terminal first (GET /v2/terminals, DELETE /v2/terminals/:id).`,
  );
