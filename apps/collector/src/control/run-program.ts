import { spawn } from 'node:child_process';

export type ProgramResult = { code: number | null; stdout: string; stderr: string; truncated: boolean };
type Options = {
  env: Record<string, string>;
  timeoutMs: number;
  maxBytes: number;
  cwd?: string;
  signal?: AbortSignal;
  input?: string;
};

const maxErrorBytes = 4096;
/** A program that inherited the pipes can keep them open long after the awaited program has ended. */
const lastOutputMs = 250;

/**
 * Runs a program without a shell, with limits on time and output. Output past its limit is cut off and the program is ended.
 * Rejects when it cannot be started, takes too long, or was ended by `signal`; it no longer runs then.
 */
export function runProgram(
  program: string,
  args: readonly string[],
  { env, timeoutMs, maxBytes, cwd, signal: stop, input }: Options,
): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    stop?.throwIfAborted();
    const child = spawn(program, args, {
      env,
      cwd,
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    child.stdin?.on('error', () => undefined); // the program may end without reading its input; its exit code tells
    child.stdin?.end(input);
    const out: Buffer[] = [];
    let bytes = 0;
    let stderr = '';
    let truncated = false;
    child.stdout?.on('data', (part: Buffer) => {
      if (bytes < maxBytes) out.push(part.subarray(0, maxBytes - bytes));
      bytes += part.length;
      if (bytes <= maxBytes || truncated) return;
      truncated = true;
      child.kill('SIGKILL');
    });
    child.stderr?.on('data', (part: Buffer) => {
      if (stderr.length < maxErrorBytes) stderr += part.toString('utf8').slice(0, maxErrorBytes);
    });
    const end = () => void child.kill('SIGKILL');
    stop?.addEventListener('abort', end, { once: true });
    child.on('error', reject);
    child.once('exit', () => {
      const timer = setTimeout(() => [child.stdout, child.stderr].forEach((pipe) => pipe?.destroy()), lastOutputMs);
      child.once('close', () => clearTimeout(timer));
    });
    child.on('close', (code, signal) => {
      stop?.removeEventListener('abort', end);
      if (stop?.aborted === true) reject(new Error(`${program} was ended because the service is stopping`));
      else if (signal !== null && !truncated)
        reject(new Error(`${program} was ended by ${signal}, after at most ${timeoutMs / 1000} s`));
      else resolve({ code, stdout: Buffer.concat(out).toString('utf8'), stderr: stderr.trim(), truncated });
    });
  });
}

/** The environment that a program needs, without that of the service. */
export const programEnv = (): Record<string, string> => {
  const names = ['PATH', 'HOME', 'TMPDIR', 'TMUX_TMPDIR', 'USER'];
  const own = names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  return { ...(Object.fromEntries(own) as Record<string, string>), LC_ALL: 'C.UTF-8' };
};
