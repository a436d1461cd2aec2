import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Session } from '@svc/contract/session.ts';
import { badRequest, conflict, unavailable } from '@svc/service-kit/service-error.ts';
import { ownProcess, type ProcessFacts } from './process-facts.ts';
import { programEnv, runProgram } from './run-program.ts';

/** A terminal: the socket of its tmux server (null: the server of this user), and its tmux target. */
export type Terminal = { socket: string | null; target: string };

/** The operations on a terminal. Each throws `conflict` when tmux knows no such target. */
export type Tmux = {
  /** Types a text literally. */
  type(terminal: Terminal, text: string): Promise<void>;
  press(terminal: Terminal, key: string): Promise<void>;
  /** The process that the terminal was started with. Throws `conflict` if it is not a child of the tmux server. */
  process(terminal: Terminal): Promise<ProcessFacts>;
};

const timeoutMs = 5000;
const maxBytes = 64 * 1024;
/** A text of more characters than this is pasted. */
const longText = 256;
/** tmux runs `#(…)` in a target as a command, so only targets of this form are passed on. */
const targetPattern = /^(?:%\d{1,9}|(\w[\w-]{0,127})(?::([\w-]{0,64}(?:\.\d{1,4})?))?)$/;
const keyPattern =
  /^(?:(?:[CMS]-)?(?:Enter|Escape|Tab|Space|BSpace|Up|Down|Left|Right|Home|End|PageUp|PageDown|PPage|NPage|DC|IC|F[1-9]|F1[0-2])|BTab|[CM]-[a-z])$/;

export function createTmux(): Tmux {
  const ask = async ({ socket }: Terminal, args: readonly string[], input?: string): Promise<string> => {
    const server = socket === null ? [] : ['-S', socket];
    const options = { env: programEnv(), timeoutMs, maxBytes, input };
    const result = await runProgram('tmux', [...server, ...args], options).catch((error: unknown) => {
      throw unavailable('tmux could not be run. If it is missing, install it: apt-get install tmux.', error);
    });
    if (result.code !== 0) throw conflict(`tmux refused: ${result.stderr.slice(0, 300)}`);
    return result.stdout;
  };
  const run = (command: string, terminal: Terminal, ...args: string[]): Promise<string> =>
    ask(terminal, [command, '-t', terminal.target, ...args]);

  /** Through a separate buffer, so that the text is in no list of processes; as a bracketed paste where the program supports it. */
  const paste = async (terminal: Terminal, text: string): Promise<void> => {
    const buffer = `svc_${randomUUID()}`;
    await ask(terminal, ['load-buffer', '-b', buffer, '-'], text);
    try {
      await run('paste-buffer', terminal, '-d', '-p', '-r', '-b', buffer);
    } catch (error) {
      await ask(terminal, ['delete-buffer', '-b', buffer]).catch(() => undefined); // it was deleted with its server
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
      // Our own format, which contains only numbers.
      const numbers = await run('display-message', terminal, '-p', '#{pane_pid} #{pid}');
      const [pane = Number.NaN, server = Number.NaN] = numbers.trim().split(' ').map(Number);
      return ownProcess(pane, server);
    },
  };
}

/**
 * The terminal that the core stored for a session. `socket`: the tmux server of the service, used if the file exists, else
 * that of this user. Throws `conflict` for a session without a terminal.
 */
export function terminalOf({ multiplexer, tmux_target }: Pick<Session, 'multiplexer' | 'tmux_target'>, socket: string): Terminal {
  if (multiplexer !== 'tmux' || tmux_target === null) throw noTerminal();
  const match = targetPattern.exec(tmux_target);
  if (match === null) throw conflict('The tmux target of this session is invalid.');
  const [, name, rest = ''] = match;
  // `=`: exactly this name, not one that begins with it.
  return { socket: existsSync(socket) ? socket : null, target: name === undefined ? tmux_target : `=${name}:${rest}` };
}

export const noTerminal = () => conflict('This session does not run in a tmux terminal.');

/** Throws `bad_request` for anything but visible text. */
export function checkedText(text: string): string {
  if (/[\p{Cc}\u2028\u2029]/u.test(text) || !text.isWellFormed())
    throw badRequest('text may contain only visible characters, on one line. Use enter and keys for others.');
  return text;
}

export function checkedKey(key: string): string {
  if (!keyPattern.test(key)) throw badRequest('keys must be the name of one key, such as Enter, Escape, Up, F1, C-c or M-b.');
  return key;
}

/** tmux treats a `;` at the end of an argument as a command separator, even without a shell. */
export const escaped = (text: string): string => (text.endsWith(';') ? `${text.slice(0, -1)}\\;` : text);

/** A terminal of tmux. `socket`: that of its server; null for the server of this user. `pid`: of the program started in it. */
export type Pane = { socket: string | null; id: string; pid: number };

const listTimeoutMs = 3000;
const maxListBytes = 256 * 1024;

/** The terminals of the running tmux servers. Starts no server. Never rejects. */
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
