import { existsSync } from 'node:fs';
import type { Session } from '@svc/contract/session.ts';
import { badRequest, conflict, unavailable } from '@svc/service-kit/service-error.ts';
import { ownProcess, type ProcessFacts } from './process-facts.ts';
import { programEnv, runProgram } from './run-program.ts';

/** What can be done to the terminal of a session. Each throws `conflict` for a session without one. */
export type Tmux = {
  /** Types a text as it is. */
  type(session: Session, text: string): Promise<void>;
  press(session: Session, key: string): Promise<void>;
  /** The process that runs in the terminal, found to be the terminal's own. */
  process(session: Session): Promise<ProcessFacts>;
};

const timeoutMs = 5000;
const maxBytes = 64 * 1024;
/** tmux expands `#(…)` in names, as a command; so a name that could hold one is not passed on. */
const targetPattern = /^(?:%\d{1,9}|(\w[\w-]{0,127})(?::([\w-]{0,64}(?:\.\d{1,4})?))?)$/;
const keyPattern =
  /^(?:(?:[CMS]-)?(?:Enter|Escape|Tab|Space|BSpace|Up|Down|Left|Right|Home|End|PageUp|PageDown|PPage|NPage|DC|IC|F[1-9]|F1[0-2])|BTab|[CM]-[a-z])$/;

/** `socket`: where the sessions of the service run, when there is such a file; else the tmux of this user. */
export function createTmux(socket: string): Tmux {
  const run = async (command: string, session: Session, ...args: string[]): Promise<string> => {
    const target = targetOf(session);
    const server = existsSync(socket) ? ['-S', socket] : [];
    const result = await runProgram('tmux', [...server, command, '-t', target, ...args], {
      env: programEnv(),
      timeoutMs,
      maxBytes,
    }).catch((error: unknown) => {
      throw unavailable('tmux cannot be run.', error);
    });
    if (result.code !== 0) throw conflict(`tmux refused: ${result.stderr.slice(0, 300)}`);
    return result.stdout;
  };
  return {
    type: async (session, text) => void (await run('send-keys', session, '-l', '--', escaped(checkedText(text)))),
    press: async (session, key) => void (await run('send-keys', session, checkedKey(key))),
    async process(session) {
      // A format of ours, of numbers only.
      const numbers = await run('display-message', session, '-p', '#{pane_pid} #{pid}');
      const [pane = Number.NaN, server = Number.NaN] = numbers.trim().split(' ').map(Number);
      return ownProcess(pane, server);
    },
  };
}

function targetOf({ multiplexer, tmux_target }: Session): string {
  if (multiplexer !== 'tmux' || tmux_target === null) throw conflict('This session does not run in a tmux terminal.');
  const match = targetPattern.exec(tmux_target);
  if (match === null) throw conflict('The tmux target of this session is not one that can be used.');
  const [, name, rest = ''] = match;
  // `=`: this name, and not one that begins with it.
  return name === undefined ? tmux_target : `=${name}:${rest}`;
}

/** Throws `bad_request` for what would be more than visible text. */
export function checkedText(text: string): string {
  if (/[\p{Cc}\u2028\u2029]/u.test(text) || !text.isWellFormed())
    throw badRequest('text takes characters that can be seen, on one line. Use enter and keys for the others.');
  return text;
}

export function checkedKey(key: string): string {
  if (!keyPattern.test(key)) throw badRequest('keys takes the name of one key, such as Enter, Escape, Up, F1, C-c or M-b.');
  return key;
}

/** A `;` at the end of an argument is a separator of commands for tmux, also without a shell. */
export const escaped = (text: string): string => (text.endsWith(';') ? `${text.slice(0, -1)}\\;` : text);
