import { spawn } from 'node:child_process';
import { repositoryRoot } from '../repository-root.ts';
import { environmentOfPrograms } from '../terminal.ts';

/** One check: a program run by our Node, or a function that returns the faults it found. */
export type Step = {
  name: string;
  /** What to type when it fails. */
  fix: string;
  run: { program: string; args: readonly string[] } | (() => Promise<string[]>);
};

export type StepResult = { ok: boolean; output: string; ms: number };

const maxMs = 10 * 60_000;
const maxOutput = 200_000;

/** Runs a step to its end and returns its output instead of showing it. Never rejects. */
export async function runStep({ run }: Step): Promise<StepResult> {
  const begunAt = performance.now();
  const result = typeof run === 'function' ? await runFunction(run) : await runProgram(run.program, run.args);
  return { ...result, ms: performance.now() - begunAt };
}

async function runFunction(run: () => Promise<string[]>): Promise<Omit<StepResult, 'ms'>> {
  try {
    const faults = await run();
    return { ok: faults.length === 0, output: faults.join('\n') };
  } catch (error) {
    return { ok: false, output: (error as Error).stack ?? String(error) };
  }
}

function runProgram(program: string, args: readonly string[]): Promise<Omit<StepResult, 'ms'>> {
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(process.execPath, [program, ...args], {
      cwd: repositoryRoot,
      env: environmentOfPrograms(),
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: maxMs,
    });
    const keep = (piece: Buffer) => {
      if (output.length < maxOutput) output += piece.toString('utf8');
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('error', (error) => resolve({ ok: false, output: error.message }));
    child.once('close', (code, signal) => {
      resolve({ ok: code === 0, output: signal === null ? output.trimEnd() : `${output}\nended by ${signal}` });
    });
  });
}
