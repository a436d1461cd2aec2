import type { SessionHost, SessionHosts } from '../terminal/session-hosts.ts';
import type { TranscriptStore } from '../transcript/transcript-store.ts';
import type { CoreSessions } from './core-sessions.ts';
import { terminalOf, type Terminal } from './tmux.ts';

/** A session, and where it runs now. */
export type ControlTarget = {
  /** It is a session of the core. */
  isCore: boolean;
  cwd: string | null;
  terminal: Terminal | null;
  /** The program that was found to run it; null if the core runs it, in a terminal or not. */
  program: SessionHost | null;
};

type Deps = {
  sessions: Pick<CoreSessions, 'read'>;
  hosts: Pick<SessionHosts, 'current'>;
  transcriptStore: Pick<TranscriptStore, 'ofSessions'>;
  /** Socket of the tmux server with the service's own terminals. */
  socket: string;
};

/** Throws `not_found` for a session that neither the core nor a transcript knows, `conflict` for an invalid tmux target. */
export async function findTarget(deps: Deps, key: string): Promise<ControlTarget> {
  const { transcript, ...found } = await findProgram(deps, key);
  const session = found.isCore ? await deps.sessions.read(key) : null;
  const cwd = session?.cwd ?? transcript?.cwd ?? null;
  if (session === null || session.multiplexer === null) return { ...found, cwd };
  return { isCore: true, cwd, terminal: terminalOf(session, deps.socket), program: null };
}

/** The program of a session, found by its transcript without asking the core. */
export async function findProgram({ hosts, transcriptStore }: Deps, key: string) {
  const transcript = (await transcriptStore.ofSessions([key])).at(-1);
  // Looked up again: a program that ran a moment ago may have ended, and its pid may have been reused.
  const program = transcript === undefined ? null : ((await hosts.current(true))?.get(key) ?? null);
  const pane = program?.pane ?? null;
  const terminal: Terminal | null = pane === null ? null : { socket: pane.socket, target: pane.id };
  return { isCore: transcript === undefined || transcript.is_core === 1, transcript, program, terminal };
}
