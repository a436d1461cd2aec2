import { birthMark } from '@svc/service-kit/process/birth-mark.ts';
import { killGroup } from '@svc/service-kit/process/process-group.ts';
import { userName } from '@svc/service-kit/user-name.ts';
import type { Database } from '@svc/store/database.ts';
import { openTerminalWords } from './open-terminal-words.ts';
import { createTerminalTalks } from './terminal-talks.ts';
import type { TerminalWords } from './terminal-words.ts';
import { createTerminals, type Terminals } from './terminals.ts';
import { createTmuxServer } from './tmux-server.ts';

/** `run`: the folder of the tmux server's socket. `path`: the `PATH` on which programs are found. */
type Deps = { db: Database; run: string; path: string | undefined } & Omit<
  Parameters<typeof createTerminals>[0],
  'tmux' | 'talks' | 'programs' | 'onReleased'
> &
  Omit<Parameters<typeof createTerminalTalks>[0], 'user'> &
  Omit<Parameters<typeof openTerminalWords>[0], 'tmux' | 'terminals' | 'talks'>;

/** Engines' programs in tmux terminals, and messages for the sessions that they have taken over. */
export type TerminalParts = { terminals: Terminals; terminalWords: TerminalWords; close(): Promise<void> };

export function openTerminals({ run, path, ...deps }: Deps): TerminalParts {
  const tmux = createTmuxServer({ run, path });
  const talks = createTerminalTalks({ ...deps, user: userName() });
  const terminals = createTerminals({
    ...deps,
    tmux,
    talks,
    programs: { birthOf: birthMark, kill: killGroup },
    onReleased: (key) => terminalWords.released(key),
  });
  const terminalWords = openTerminalWords({ ...deps, tmux, terminals, talks });
  return {
    terminals,
    terminalWords,
    async close() {
      terminalWords.close();
      await terminals.close();
    },
  };
}
