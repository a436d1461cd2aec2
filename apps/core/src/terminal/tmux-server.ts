import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makePrivateDir, writeFileAtomic } from '@svc/service-kit/files.ts';
import { killGroup, termGroup } from '@svc/service-kit/process/process-group.ts';
import { isAlive } from '@svc/service-kit/process/signal-process.ts';
import { createTerminalScreen, type TerminalScreen } from './terminal-screen.ts';
import { ServiceError, unavailable } from '@svc/service-kit/service-error.ts';

/** What runs in a terminal. `env` is the program's whole environment, apart from what tmux adds. */
export type PaneProgram = { argv: readonly [string, ...string[]]; env: Readonly<Record<string, string>>; cwd: string };
/** A terminal known to tmux: the process in its oldest pane, and those in all panes. `startedAt`: epoch ms. */
export type OpenPane = { id: string; pid: number; pids: readonly number[]; startedAt: number };

/** The service's own tmux server, on its own socket. It outlives the core. Each call throws `unavailable` when tmux cannot be run. */
export type TmuxServer = {
  readonly socket: string;
  /** Returns the pid. @throws ServiceError `unprocessable` when tmux refuses. */
  open(id: string, program: PaneProgram): Promise<number>;
  list(): Promise<OpenPane[]>;
  /** Ends a terminal and what runs in it; resolves when it is gone. Does nothing when there is none. */
  end(id: string): Promise<void>;
  stop(): Promise<void>;
  /** Reads the terminals' screens and types into them. */
  readonly screen: TerminalScreen;
};

type Answer = { code: number | null; stdout: string; stderr: string };
type Deps = { run: string; path: string | undefined };

const timeoutMs = 5000;
/** The delays from the end of the terminal to SIGTERM, and from there to SIGKILL. */
const [graceMs, termMs] = [2500, 2500];
const stepMs = 20;
/** How long a program has to run before it counts as started. */
const settleMs = 200;
const maxOutput = 256 * 1024;
/** tmux 3.0 was released in 2019. Older versions parse options and targets differently. */
const leastVersion = 3;
const idForm = /^term_[0-9a-z]{1,64}$/;
const nameForm = /^[A-Za-z_]\w*$/;

/** The server also runs without terminals, so that it is never started for one: it would pass that terminal's secrets to the next. */
const configText = ['set -s exit-empty off', 'set -g remain-on-exit off', 'set -g history-limit 20000', ''].join('\n');

export function createTmuxServer({ run, path: searchPath }: Deps): TmuxServer {
  const socket = path.join(run, 'tmux.sock');
  const config = path.join(run, 'tmux.conf');
  const tmux = (
    args: readonly string[],
    options: { env?: Readonly<Record<string, string>>; cwd?: string; input?: string | undefined } = {},
  ) =>
    runTmux(['-S', socket, '-f', config, ...args], {
      cwd: options.cwd ?? run,
      env: { PATH: searchPath, ...options.env },
      input: options.input,
    });

  let isNewEnough = false;
  const start = async (): Promise<void> => {
    makePrivateDir(run);
    if (!isNewEnough) checkVersion((await tmux(['-V'])).stdout);
    isNewEnough = true;
    writeFileAtomic(config, configText);
    refuse(await tmux(['start-server']));
  };
  /** Without its socket there is no server. Spawning tmux to ask costs a large process some 20 ms. */
  const mayRun = (): boolean => existsSync(socket);
  const list = async (): Promise<OpenPane[]> => {
    if (!mayRun()) return [];
    const { stdout } = await tmux(['list-panes', '-a', '-F', '#{session_name} #{pane_id} #{pane_pid} #{session_created}']);
    return toPanes(stdout);
  };

  return {
    socket,
    list,
    screen: createTerminalScreen((args, input) => tmux(args, { input }), { refuse, checked }),
    async open(id, { argv, env, cwd }) {
      await start();
      // The names of this terminal's own variables; the values are passed in this call's environment and appear in no argument list.
      const names = Object.keys(env).filter((name) => nameForm.test(name));
      const args = ['set-option', '-g', 'update-environment', names.join(' '), ';'];
      // At least two words: a single one would be passed to a shell. The working folder is the caller's: tmux would expand a folder in an
      // argument.
      const words = argv.length === 1 ? ['env', ...argv] : argv;
      args.push('new-session', '-d', '-s', checked(id), '-x', '200', '-y', '50', '--', ...words.map(escaped));
      refuse(await tmux(args, { env, cwd }));
      const pane = (await list()).find((one) => one.id === id);
      // A program that cannot be run, or that rejects its arguments, is still listed for a moment.
      if (pane === undefined || (await hasEndedWithin(pane.pid, settleMs)))
        throw new ServiceError('unprocessable', `${argv[0]} ended at once.`);
      return pane.pid;
    },
    async end(id) {
      const pids = (await list()).find((one) => one.id === id)?.pids ?? [];
      await tmux(['kill-session', '-t', `=${checked(id)}:`]);
      await Promise.all(pids.map(endOf));
    },
    async stop() {
      if (mayRun()) await tmux(['kill-server']);
    },
  };
}

/** A version that cannot be parsed (`tmux master`) is a custom build, and recent. */
function checkVersion(said: string): void {
  const version = /^tmux (?:next-)?(\d+)\.\d+/.exec(said);
  if (version === null || Number(version[1]) >= leastVersion) return;
  const why = `${said.trim().slice(0, 40)} is too old: ${leastVersion}.0 or later is needed.`;
  throw unavailable(`${why} Install it: apt-get install tmux, or see https://github.com/tmux/tmux/wiki/Installing.`);
}

/** A person may split a terminal and rearrange its panes; tmux numbers them in the order of their creation. */
function toPanes(listing: string): OpenPane[] {
  const rows = [...listing.matchAll(/^(term_[0-9a-z]+) %(\d+) (\d+) (\d+)$/gm)]
    .map(([, id = '', number, pid, at]) => ({ id, number: Number(number), pid: Number(pid), startedAt: Number(at) * 1000 }))
    .sort((a, b) => a.number - b.number);
  const byId = Map.groupBy(rows, ({ id }) => id);
  return [...byId].flatMap(([id, panes]) => {
    const [oldest] = panes;
    return oldest === undefined ? [] : [{ id, pid: oldest.pid, pids: panes.map(({ pid }) => pid), startedAt: oldest.startedAt }];
  });
}

/**
 * A program that tmux has told to end still writes its transcript. One that does not end gets SIGTERM, then SIGKILL, with its process
 * group: some programs run as the child of a launcher and ignore the first signal.
 */
async function endOf(pid: number): Promise<void> {
  if (!(await hasEndedWithin(pid, graceMs))) {
    termGroup(pid);
    await hasEndedWithin(pid, termMs);
  }
  killGroup(pid);
}

async function hasEndedWithin(pid: number, ms: number): Promise<boolean> {
  for (let waited = 0; waited < ms && isAlive(pid); waited += stepMs) await sleep(stepMs);
  return !isAlive(pid);
}

function checked(id: string): string {
  if (!idForm.test(id)) throw new Error(`"${id}" is not a terminal of this service`);
  return id;
}

/** tmux treats a `;` at the end of an argument as a command separator, even without a shell. */
const escaped = (text: string): string => (text.endsWith(';') ? `${text.slice(0, -1)}\\;` : text);

function refuse({ code, stderr }: Answer): void {
  if (code !== 0) throw new ServiceError('unprocessable', `tmux refused: ${stderr.trim().slice(0, 300)}`);
}

/** Does not use the usual way to run programs: that ends what they leave behind, and the server has to stay. */
const runTmux = (
  args: readonly string[],
  { cwd, env, input }: { cwd: string; env: Record<string, string | undefined>; input?: string | undefined },
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const options = { cwd, env, timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: maxOutput, encoding: 'utf8' } as const;
    const child = execFile('tmux', args, options, (error, stdout, stderr) => {
      const { code } = (error ?? {}) as { code?: unknown };
      if (error === null || typeof code === 'number')
        return resolve({ code: typeof code === 'number' ? code : 0, stdout, stderr });
      reject(unavailable(`tmux cannot be run (${error.message.slice(0, 200)}). Install it: apt-get install tmux.`, error));
    });
    child.stdin?.on('error', () => undefined); // the process has ended; its exit code says why
    child.stdin?.end(input);
  });
