import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { parseJsonOrNull } from '@svc/contract/json-value.ts';
import { findProgram } from '@svc/engine-kit/engine-path.ts';
import { tieToParent } from '@svc/engine-kit/parent-tie.ts';
import { npmEnv, npmReason } from '@svc/service-kit/packages/npm-program.ts';
import { spawnOwned } from '@svc/service-kit/process/owned-process.ts';
import { createTextTail } from '@svc/service-kit/process/text-tail.ts';
import { createLineSplitter } from '@svc/service-kit/line-splitter.ts';
import { ServiceError, upstream } from '@svc/service-kit/service-error.ts';

type Options = {
  env: Readonly<Record<string, string | undefined>>;
  /** Folder in which npm works and writes its other files; created when it is missing. */
  cwd: string;
  /** Package registry; null leaves it to npm's own settings. */
  registry: string | null;
  timeoutMs: number;
  signal?: AbortSignal;
  /** Called with every line of npm's log, which shows the progress. */
  onLine?(line: string): void;
};

/** npm does not react while it waits for the registry. It starts no other process, so it can be killed at once. */
const stopTimes = { politeMs: 0, termMs: 200 };
const maxLineLength = 10_000;

/**
 * Runs npm without a shell and returns its stdout. It ends when this process ends, in any way.
 * @throws ServiceError with npm's own reason when it fails or takes too long.
 */
export async function runNpm(args: readonly string[], options: Options): Promise<string> {
  const npm = findProgram('npm', options.env.PATH);
  if (npm === null) throw new ServiceError('unavailable', 'npm is not on PATH. Install it: it comes with Node.js.');
  mkdirSync(options.cwd, { recursive: true, mode: 0o700 });
  const registry = options.registry === null ? [] : [`--registry=${options.registry}`];
  // npm's cache may be older than the registry.
  const flags = [...registry, '--prefer-online', '--no-update-notifier'];
  const tied = tieToParent(npm, [...args, ...flags], options.env.PATH, 'KILL');
  const owned = spawnOwned(tied.command, tied.args, { cwd: options.cwd, env: npmEnv(options.env) });
  const { child } = owned;
  child.stdin.on('error', () => undefined).end(); // it may end without reading
  const stdout = createTextTail(64 * 1024);
  const stderr = createTextTail();
  const lines = createLineSplitter(
    maxLineLength,
    (line) => options.onLine?.(line),
    () => undefined,
  );
  child.stdout.setEncoding('utf8').on('data', stdout.add);
  child.stderr.on('data', (chunk: Buffer) => {
    stderr.add(chunk.toString());
    lines.push(chunk);
  });
  let cut: string | null = null;
  const left = Promise.withResolvers<null>();
  const end = (why: string) => {
    cut = why;
    void owned.end(stopTimes).then(() => left.resolve(null));
  };
  const timer = setTimeout(() => end(`npm took longer than ${options.timeoutMs / 1000} s`), options.timeoutMs);
  const onAbort = () => end('the service stopped');
  options.signal?.addEventListener('abort', onAbort, { once: true });
  if (options.signal?.aborted === true) onAbort();
  try {
    const ended = new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', resolve);
    });
    const code = await Promise.race([ended, left.promise]);
    if (cut !== null || code !== 0) throw upstream(`${cut ?? npmReason(stderr.read())}.`);
    return stdout.read();
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', onAbort);
  }
}

/** The newest version of a package in a registry. */
export async function latestVersion(name: string, options: Options): Promise<string> {
  const answer = await runNpm(['view', name, 'version', '--json'], options);
  const version = parseJsonOrNull(answer);
  if (typeof version === 'string' && isVersion(version)) return version;
  throw upstream(`npm named no version of ${name}.`);
}

/** Whether a version is safe as the name of a folder. */
export const isVersion = (text: string): boolean => /^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(text);

/** The folder for npm when it installs nothing. */
export const npmFolder = (enginesDir: string): string => path.join(enginesDir, '.npm');
