import type { Terminal } from '@svc/contract/terminal.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { isAlive } from '@svc/service-kit/process/signal-process.ts';
import { notFound } from '@svc/service-kit/service-error.ts';
import type { Events } from '../events.ts';
import type { Claims } from '../session/claims.ts';
import type { TerminalSessions } from '../session/terminal-sessions.ts';
import type { TerminalTalks } from './terminal-talks.ts';
import type { TmuxServer } from './tmux-server.ts';

/** The open terminals. Each is watched until its program ends; then its session returns to the channel. */
export type RunningTerminals = {
  /** Starts to watch a terminal. */
  keep(terminal: Terminal): Terminal;
  /** @throws ServiceError `not_found` */
  get(id: string): Terminal;
  has(id: string): boolean;
  list(): Terminal[];
  isOpen(conversationKey: string): boolean;
  /** Ends the program and returns the session to the channel. @throws ServiceError `not_found` */
  end(id: string): Promise<void>;
  /** Returns the session of a terminal that is not open to its channel. */
  release(conversationKey: string, id: string): Promise<void>;
  /** Stops watching; the programs go on. */
  close(): void;
};

export type RunningDeps = {
  tmux: Pick<TmuxServer, 'list' | 'end'>;
  sessions: Pick<TerminalSessions, 'leaveTerminal'>;
  claims: Pick<Claims, 'release'>;
  talks: Pick<TerminalTalks, 'take'>;
  /** A session has returned to its channel. */
  onReleased(conversationKey: string): void;
  /**
   * `birthOf`: distinguishes a process from a later one with the same pid. `kill`: ends it and its group at once; does nothing when none is
   * left.
   */
  programs: { birthOf(pid: number): string | null; kill(pid: number): void };
  events: Pick<Events, 'claim'>;
  clock: Pick<Clock, 'every'>;
  log: Pick<Log, 'info' | 'error'>;
};

const watchMs = 1000;
/** Every how many looks tmux itself is asked: a pid may belong to another program by then. */
const askEvery = 30;

export function createRunningTerminals(deps: RunningDeps): RunningTerminals {
  const { tmux, sessions, claims, talks, programs, events, clock, log } = deps;
  const open = new Map<string, Terminal>();
  const births = new Map<string, string | null>();
  /** Terminals that are being released. */
  const endings = new Map<string, Promise<void>>();
  let stopWatch: (() => void) | null = null;
  let looks = 0;

  const get = (id: string): Terminal => {
    const found = open.get(id);
    if (found === undefined) throw notFound('terminal', id);
    return found;
  };

  /** The conversation is in the history before the channel goes on. A transcript that cannot be read does not keep the session claimed. */
  const release = async (key: string, id: string): Promise<void> => {
    await talks
      .take(key)
      .catch((error: unknown) => log.error({ err: error, terminal: id }, 'the transcript of a terminal could not be read'));
    await Promise.all([claims.release(key), sessions.leaveTerminal(key, id)]);
    events.claim(key, 'released', id);
  };
  const releaseTerminal = async ({ id, conversation_key: conversationKey, pid }: Terminal): Promise<void> => {
    // A program, or a process that it started, may outlive its tmux server. It would go on unseen, beside the channel.
    if (!isAlive(pid) || births.get(id) === programs.birthOf(pid)) programs.kill(pid);
    await release(conversationKey, id); // when it fails, the next look tries again
    open.delete(id);
    births.delete(id);
    deps.onReleased(conversationKey);
    await tmux.end(id); // closes windows that a person opened beside it
    log.info({ terminal: id }, 'a terminal has ended');
  };
  /** All callers that notice the end of a terminal wait for the same release. */
  const ended = async (terminal: Terminal): Promise<void> => {
    const { id } = terminal;
    if (!open.has(id)) return;
    const ending = endings.get(id) ?? releaseTerminal(terminal).finally(() => endings.delete(id));
    endings.set(id, ending);
    await ending;
  };
  const look = async (): Promise<void> => {
    const isAsked = ++looks % askEvery === 0;
    const there = isAsked ? new Map((await tmux.list()).map(({ id, pids }) => [id, pids])) : null;
    for (const terminal of open.values())
      if (!isAlive(terminal.pid) || (there !== null && there.get(terminal.id)?.includes(terminal.pid) !== true))
        await ended(terminal);
    watch();
  };
  /** Nothing is polled while there is no terminal. */
  const watch = () => {
    if (open.size > 0) stopWatch ??= clock.every(watchMs, () => void look().catch(reportLook(log)));
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

  return {
    keep,
    get,
    has: (id) => open.has(id),
    list: () => [...open.values()],
    isOpen: (key) => [...open.values()].some((one) => one.conversation_key === key),
    async end(id) {
      const found = get(id);
      await tmux.end(id);
      await ended(found);
      watch();
    },
    release,
    close() {
      open.clear();
      watch();
    },
  };
}

/** Logs a look that failed; the next one follows. */
export const reportLook = (log: Pick<Log, 'error'>) => (error: unknown) =>
  log.error({ err: error }, 'the terminals could not be checked');
