import { treeMemory } from '@svc/engine-kit/process-memory.ts';
import { spawnOwned, type OwnedProcess } from '@svc/service-kit/process/owned-process.ts';
import { within } from '@svc/service-kit/within.ts';
import { createTextTail } from '@svc/service-kit/process/text-tail.ts';
import { errorText } from '@svc/service-kit/service-error.ts';

/** `stopped`: by the signal. `too_hungry`: it exceeded its memory limit. */
export type GitEnd = {
  ending: 'ended' | 'too_late' | 'stopped' | 'too_hungry' | 'not_started';
  code: number | null;
  stderr: string;
};

type Setting = readonly [name: string, value: string];
/**
 * `folder`: git's home, without any of the user's files (`.netrc`, `.gitconfig`). `env`: the paths of programs and of server certificates.
 * `signal`: aborts every call.
 */
export type GitHome = { folder: string; env: Readonly<Record<string, string>>; signal?: AbortSignal };

/** The environment variables that git gets. */
export const gitEnvNames = ['PATH', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'GIT_SSL_CAINFO'] as const;

type Options = {
  home: GitHome;
  cwd?: string;
  timeoutMs: number;
  /** In bytes; 1 GiB by default. */
  maxMemory?: number;
  settings?: readonly Setting[];
  protocols?: string;
  onOutput?(chunk: Buffer): void;
  stop?: AbortSignal;
};

/**
 * Settings of every call. Nothing that a repository contains is run or followed: no hooks, no filters, no submodules, no links, no other
 * protocol, no redirect to an unchecked address.
 */
const always: readonly Setting[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.symlinks', 'false'],
  ['core.protectHFS', 'true'],
  ['core.protectNTFS', 'true'],
  ['core.bigFileThreshold', '8m'],
  ['submodule.recurse', 'false'],
  ['fetch.recurseSubmodules', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['pack.threads', '1'],
  ['http.followRedirects', 'false'],
  ['http.lowSpeedLimit', '1000'],
  ['http.lowSpeedTime', '30'],
  ['credential.helper', ''],
  ['advice.detachedHead', 'false'],
];

/**
 * Runs git without a shell. Settings, including credentials, are passed in the environment, so they appear neither in a process list nor on
 * the disk. Never rejects.
 */
export async function runGit(args: readonly string[], options: Options): Promise<GitEnd> {
  const stderr = createTextTail();
  const end = (ending: GitEnd['ending'], code: number | null = null): GitEnd => ({ ending, code, stderr: stderr.read() });
  let owned: OwnedProcess;
  try {
    owned = spawnOwned('git', args, { env: envOf(options), cwd: options.cwd });
  } catch (error) {
    stderr.add(errorText(error));
    return end('not_started');
  }
  const { child } = owned;
  const closed = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  child.on('error', (error) => stderr.add(error.message));
  child.stdin.on('error', () => undefined).end();
  child.stdout.on('data', (chunk: Buffer) => options.onOutput?.(chunk));
  child.stderr.setEncoding('utf8').on('data', stderr.add);
  const memory = watchMemory(child.pid, options.maxMemory ?? maxMemory);
  const stop = AbortSignal.any([options.stop, options.home.signal].filter((signal) => signal !== undefined));
  const stopped = new Promise<void>((resolve) => {
    if (stop.aborted) resolve();
    stop.addEventListener('abort', () => resolve(), { once: true });
  });
  const isOver = await within(Promise.race([closed, stopped, memory.exceeded]), options.timeoutMs);
  memory.end();
  if (isOver && !stop.aborted && !memory.isExceeded())
    return end(child.pid === undefined ? 'not_started' : 'ended', child.exitCode);
  await owned.kill();
  return end(memory.isExceeded() ? 'too_hungry' : isOver ? 'stopped' : 'too_late');
}

/** A server may send more than fits in memory, compressed a thousandfold: git reads the list of what it fetches into memory. */
const maxMemory = 1024 * 2 ** 20;

function watchMemory(pid: number | undefined, limit: number) {
  const { promise: exceeded, resolve } = Promise.withResolvers<void>();
  let isOver = pid === undefined;
  let isExceeded = false;
  const look = async (): Promise<void> => {
    while (!isOver) {
      // Takes half a second; null when the process has ended. Where memory cannot be measured, only the time limit applies.
      const held = await treeMemory(pid ?? 0).catch(() => null);
      if (held === null || isOver) return;
      isExceeded = held > limit;
      if (isExceeded) return resolve();
    }
  };
  void look();
  return { exceeded, isExceeded: () => isExceeded, end: () => void (isOver = true) };
}

function envOf({ home, settings = [], protocols = '' }: Options): Record<string, string | undefined> {
  const all = [...always, ...settings];
  return {
    ...home.env,
    HOME: home.folder,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: protocols,
    GIT_CONFIG_COUNT: String(all.length),
    ...Object.fromEntries(
      all.flatMap(([name, value], at) => [
        [`GIT_CONFIG_KEY_${at}`, name],
        [`GIT_CONFIG_VALUE_${at}`, value],
      ]),
    ),
  };
}
