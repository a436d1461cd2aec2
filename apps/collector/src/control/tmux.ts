import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Session } from '@svc/contract/session.ts';
import { badRequest, conflict, unavailable } from '@svc/service-kit/service-error.ts';
import { ownProcess, type ProcessFacts } from './process-facts.ts';
import { programEnv, runProgram } from './run-program.ts';

/** A terminal: the socket of its tmux server (null: the server of this user), and what tmux calls it. */
export type Terminal = { socket: string | null; target: string };

/** What can be done to a terminal. Each throws `conflict` when tmux knows none of that name. */
export type Tmux = {
  /** Types a text as it is. */
  type(terminal: Terminal, text: string): Promise<void>;
  press(terminal: Terminal, key: string): Promise<void>;
  /** The process that runs in the terminal, found to be the terminal's own. */
  process(terminal: Terminal): Promise<ProcessFacts>;
};

const timeoutMs = 5000;
const maxBytes = 64 * 1024;
/** Characters from which on a text is pasted. */
const longText = 256;
/** tmux expands `#(…)` in names, as a command; so a name that could hold one is not passed on. */
const targetPattern = /^(?:%\d{1,9}|(\w[\w-]{0,127})(?::([\w-]{0,64}(?:\.\d{1,4})?))?)$/;
const keyPattern =
  /^(?:(?:[CMS]-)?(?:Enter|Escape|Tab|Space|BSpace|Up|Down|Left|Right|Home|End|PageUp|PageDown|PPage|NPage|DC|IC|F[1-9]|F1[0-2])|BTab|[CM]-[a-z])$/;

export function createTmux(): Tmux {
  const ask = async ({ socket }: Terminal, args: readonly string[], input?: string): Promise<string> => {
    const server = socket === null ? [] : ['-S', socket];
    const options = { env: programEnv(), timeoutMs, maxBytes, input };
    const result = await runProgram('tmux', [...server, ...args], options).catch((error: unknown) => {
      throw unavailable('tmux cannot be run. Where it is missing: apt-get install tmux.', error);
    });
    if (result.code !== 0) throw conflict(`tmux refused: ${result.stderr.slice(0, 300)}`);
    return result.stdout;
  };
  const run = (command: string, terminal: Terminal, ...args: string[]): Promise<string> =>
    ask(terminal, [command, '-t', terminal.target, ...args]);

  /** By a buffer of its own, marked as pasted for a program that knows of it. No list of processes shows the text. */
  const paste = async (terminal: Terminal, text: string): Promise<void> => {
    const buffer = `svc_${randomUUID()}`;
    await ask(terminal, ['load-buffer', '-b', buffer, '-'], text);
    try {
      await run('paste-buffer', terminal, '-d', '-p', '-r', '-b', buffer);
    } catch (error) {
      await ask(terminal, ['delete-buffer', '-b', buffer]).catch(() => undefined); // gone with its server
      throw error;
    }
  };
  return {
    async type(terminal, text) {
      if (checkedText(text).length > longText) await paste(terminal, text);
      else await run('send-keys', terminal, '-l', '--', escaped(text));
    },
    press: async (terminal, key) => void (await run('send-keys', terminal, checkedKey(key))),
    async process(terminal) {
      // A format of ours, of numbers only.
      const numbers = await run('display-message', terminal, '-p', '#{pane_pid} #{pid}');
      const [pane = Number.NaN, server = Number.NaN] = numbers.trim().split(' ').map(Number);
      return ownProcess(pane, server);
    },
  };
}

/**
 * The terminal that the core noted for a session. `socket`: where the sessions of the service run, when there is such a
 * file; else it is the tmux of this user. Throws `conflict` for a session without one.
 */
export function terminalOf({ multiplexer, tmux_target }: Pick<Session, 'multiplexer' | 'tmux_target'>, socket: string): Terminal {
  if (multiplexer !== 'tmux' || tmux_target === null) throw noTerminal();
  const match = targetPattern.exec(tmux_target);
  if (match === null) throw conflict('The tmux target of this session is not one that can be used.');
  const [, name, rest = ''] = match;
  // `=`: this name, and not one that begins with it.
  return { socket: existsSync(socket) ? socket : null, target: name === undefined ? tmux_target : `=${name}:${rest}` };
}

export const noTerminal = () => conflict('This session does not run in a tmux terminal.');

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

/** A terminal of tmux. `socket`: of the server it is in; null for the server of this user. `pid`: of what was started in it. */
export type Pane = { socket: string | null; id: string; pid: number };

const listTimeoutMs = 3000;
const maxListBytes = 256 * 1024;

/** The terminals of the servers that run. A server that is not there is not started. Never rejects. */
export async function listPanes(serviceSocket: string): Promise<Pane[]> {
  const servers = [serviceSocket, null].filter((socket) => existsSync(socket ?? userSocket()));
  return (await Promise.all(servers.map(panesOf))).flat();
}

const userSocket = (): string => path.join(programEnv()['TMUX_TMPDIR'] || '/tmp', `tmux-${process.getuid?.()}`, 'default');

async function panesOf(socket: string | null): Promise<Pane[]> {
  const server = socket === null ? [] : ['-S', socket];
  const args = [...server, 'list-panes', '-a', '-F', '#{pane_id} #{pane_pid}'];
  const { stdout } = await runProgram('tmux', args, {
    env: programEnv(),
    timeoutMs: listTimeoutMs,
    maxBytes: maxListBytes,
  }).catch(() => ({ stdout: '' }));
  return [...stdout.matchAll(/^(%\d+) (\d+)$/gm)].map(([, id = '', pid]) => ({ socket, id, pid: Number(pid) }));
}
