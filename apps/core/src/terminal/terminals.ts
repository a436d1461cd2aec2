import type { OpenTerminal, Terminal } from '@svc/contract/terminal.ts';
import type { EngineTerminal, TerminalRequest } from '@svc/engine-kit/engine.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { isAlive } from '@svc/service-kit/process/signal-process.ts';
import { conflict, notFound, queueFull, ServiceError, unavailable } from '@svc/service-kit/service-error.ts';
import type { Events } from '../events.ts';
import type { Claims } from '../session/claims.ts';
import type { TerminalRow, TerminalSessions } from '../session/terminal-sessions.ts';
import { newSession, placeOf, turnInFlight, type Place, type PlaceDeps } from './terminal-place.ts';
import type { TerminalTalks } from './terminal-talks.ts';
import type { OpenPane, TmuxServer } from './tmux-server.ts';

/** Engines in terminals of the service: a session is claimed for as long as the program of its engine runs there. */
export type Terminals = {
  /** @throws ServiceError with what is wrong, and what to do */
  open(request: OpenTerminal): Promise<Terminal>;
  list(): Terminal[];
  get(id: string): Terminal;
  /** Ends the program and gives the session back. @throws ServiceError `not_found` */
  end(id: string): Promise<void>;
  /** @throws ServiceError `conflict` for a session whose program runs in a terminal. */
  refuseOpen(conversationKey: string): void;
  /** Finds again what an earlier core has started, and releases what ended meanwhile; later, when tmux does not answer now. Once, at the start. */
  recover(): Promise<void>;
  /** Terminals live on; a tmux server that is known to have none is ended. */
  close(): Promise<void>;
};

type Deps = PlaceDeps & {
  tmux: TmuxServer;
  sessions: Pick<TerminalSessions, 'inTerminals' | 'enterTerminal' | 'leaveTerminal'>;
  claims: Pick<Claims, 'claim' | 'release' | 'forget'>;
  /** How an engine is run in a terminal, or why it is not. */
  programOf(engineId: string, request: Pick<TerminalRequest, 'resume' | 'cwd'>): Promise<EngineTerminal | { problem: string }>;
  talks: Pick<TerminalTalks, 'begin' | 'take'>;
  /** A session is the channel's again. */
  onReleased(conversationKey: string): void;
  /** `birthOf`: distinguishes a process from a later one with the same pid. `kill`: ends it and its group at once; nothing happens when none is left. */
  programs: { birthOf(pid: number): string | null; kill(pid: number): void };
  events: Pick<Events, 'claim'>;
  clock: Pick<Clock, 'now' | 'after' | 'every'>;
  ids: Ids;
  log: Pick<Log, 'info' | 'error'>;
};

const maxTerminals = 32;
const watchMs = 1000;
const retryMs = 5000;
/** How often tmux itself is asked: a pid may be another program's by then. */
const askEvery = 30;

export function createTerminals(deps: Deps): Terminals {
  const { tmux, sessions, claims, talks, programs, events, clock, log } = deps;
  const births = new Map<string, string | null>();
  const open = new Map<string, Terminal>();
  /** Being opened: counted, and no other may be opened on the same session. */
  const opening = new Set<string>();
  /** Being given back. */
  const endings = new Map<string, Promise<void>>();
  let stopWatch: (() => void) | null = null;
  let looks = 0;
  /** Ends the wait for the next try, while it is not known what an earlier core has started. */
  let retry: (() => void) | null = null;

  const find = (id: string): Terminal => {
    const found = open.get(id);
    if (found === undefined) throw notFound('terminal', id);
    return found;
  };
  const isOpen = (key: string) => [...open.values()].some((one) => one.conversation_key === key);

  /** What was said is in the history before the channel goes on; that it cannot be read does not keep the session claimed. */
  const release = async (key: string, id: string): Promise<void> => {
    await talks
      .take(key)
      .catch((error: unknown) => log.error({ err: error, terminal: id }, 'what was said in a terminal could not be read'));
    await Promise.all([claims.release(key), sessions.leaveTerminal(key, id)]);
    events.claim(key, 'released', id);
  };
  const releaseTerminal = async ({ id, conversation_key: conversationKey, pid }: Terminal): Promise<void> => {
    // A program may outlive its tmux server, or what it has started may outlive it. Nobody sees them then, and they would go on beside the channel.
    if (!isAlive(pid) || births.get(id) === programs.birthOf(pid)) programs.kill(pid);
    await release(conversationKey, id); // when it fails the next look tries again
    open.delete(id);
    births.delete(id);
    deps.onReleased(conversationKey);
    await tmux.end(id); // windows that a person opened beside it
    log.info({ terminal: id }, 'a terminal has ended');
  };
  /** Every caller that sees that it has ended waits for the same end. */
  const ended = async (terminal: Terminal): Promise<void> => {
    const { id } = terminal;
    if (!open.has(id)) return;
    const ending = endings.get(id) ?? releaseTerminal(terminal).finally(() => endings.delete(id));
    endings.set(id, ending);
    await ending;
  };
  const report = (error: unknown) => log.error({ err: error }, 'the terminals could not be looked at');

  const look = async (): Promise<void> => {
    const isAsked = ++looks % askEvery === 0;
    const there = isAsked ? new Map((await tmux.list()).map(({ id, pids }) => [id, pids])) : null;
    for (const terminal of open.values())
      if (!isAlive(terminal.pid) || (there !== null && there.get(terminal.id)?.includes(terminal.pid) !== true))
        await ended(terminal);
    watch();
  };
  /** Nothing is looked at while there is no terminal. */
  const watch = () => {
    if (open.size > 0) stopWatch ??= clock.every(watchMs, () => void look().catch(report));
    else {
      stopWatch?.();
      stopWatch = null;
    }
  };
  const keep = (terminal: Terminal): Terminal => {
    open.set(terminal.id, terminal);
    births.set(terminal.id, programs.birthOf(terminal.pid));
    watch();
    return terminal;
  };

  const programFor = async ({ engineId, ...request }: Place): Promise<EngineTerminal> => {
    const program = await deps.programOf(engineId, request);
    if ('problem' in program) throw new ServiceError('unprocessable', program.problem);
    return program;
  };
  const start = async (place: Place): Promise<Terminal> => {
    const id = deps.ids.next('term');
    const fresh = place.key === null ? await programFor(place) : null;
    const key = place.key ?? (await newSession(deps, place, fresh?.engineSessionId ?? id));
    // In one moment: a turn that begins after the look finds it claimed, and what is cut off after it is found by the next start.
    if (deps.isBusy(key)) throw turnInFlight();
    const noted = Promise.all([claims.claim(key, id), sessions.enterTerminal(key, id)]);
    try {
      await noted;
      events.claim(key, 'claimed', id);
      // Only now: no turn of the session runs while it is made ready for another program.
      const program = fresh ?? (await programFor(place));
      await talks.begin(key, place.engineId, program, place.cwd);
      const pid = await tmux.open(id, { ...program, cwd: place.cwd });
      return keep({
        ...factsOf(tmux, id),
        conversation_key: key,
        engine_id: place.engineId,
        engine_session_id: program.engineSessionId,
        cwd: place.cwd,
        pid,
        started_at: clock.now(),
      });
    } catch (error) {
      await release(key, id);
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
      if (retry === null) log.error({}, 'tmux does not say which terminals there are; it is asked again');
      retry = clock.after(retryMs, () => void recover().catch(report));
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
      if (pane === undefined) await release(row.conversation_key, row.id);
      else keep(toTerminal(tmux, row, pane));
    }
    // Of a session that was deleted meanwhile.
    for (const { id } of panes) if (!open.has(id)) await tmux.end(id);
  };

  return {
    async open(request) {
      if (retry !== null)
        throw unavailable('It is not known yet which terminals there are: tmux does not answer. Try again in a moment.');
      if (open.size + opening.size >= maxTerminals)
        throw queueFull(`There are ${maxTerminals} terminals already. End one (DELETE /v2/terminals/:id).`, 30);
      const mark = request.conversation_key ?? deps.ids.next('new');
      if (isOpen(mark) || opening.has(mark)) throw inTerminal(mark);
      opening.add(mark);
      try {
        return await start(await placeOf(deps, request));
      } finally {
        opening.delete(mark);
      }
    },
    list: () => [...open.values()],
    get: find,
    async end(id) {
      const found = find(id);
      await tmux.end(id);
      await ended(found);
      watch();
    },
    refuseOpen(key) {
      if (isOpen(key)) throw inTerminal(key);
    },
    recover,
    async close() {
      const mayHaveAny = open.size > 0 || retry !== null;
      retry?.();
      open.clear();
      watch();
      if (!mayHaveAny) await tmux.stop().catch(() => undefined); // it is not there
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

/** None where tmux is not installed; null where it did not answer: there may be some. */
const panesWithoutTmux = ({ cause }: { cause?: { code?: unknown } }): OpenPane[] | null => (cause?.code === 'ENOENT' ? [] : null);

const inTerminal = (key: string) =>
  conflict(`The session ${key.slice(0, 200)} is in a terminal. End that first (GET /v2/terminals, DELETE /v2/terminals/:id).`);
