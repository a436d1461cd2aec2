import { fork, type ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { ChildSpec, LogLine } from './child-spec.ts';
import type { Exit } from './exit-reason.ts';
import { killGroup } from './kill-group.ts';

export type ChildListener = {
  onMessage(message: unknown): void;
  onOutput(stream: LogLine['stream'], chunk: Buffer): void;
  /** Called exactly once, never before `spawn` has returned, after the last output. */
  onExit(exit: Exit): void;
};

export type SpawnedChild = {
  readonly pid: number | null;
  /** False when the child cannot be reached any more. */
  send(message: unknown): boolean;
  terminate(): void;
  /** SIGKILL for the process and all it started in its group. */
  killGroup(): void;
};

export type Spawn = (spec: ChildSpec, listener: ChildListener) => SpawnedChild;

/** A program that inherited the pipes can hold them open long after the child is gone. */
const lastOutputMs = 250;

/** Forks the spec's module as the leader of a process group of its own. The spec's environment is all it gets. */
export const spawnChild: Spawn = (spec, listener) => {
  let child: ChildProcess;
  try {
    child = fork(spec.entry, spec.args ?? [], {
      execPath: process.execPath,
      execArgv: spec.execArgv ?? [],
      env: spec.env,
      cwd: spec.cwd,
      detached: true,
      serialization: 'json',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
  } catch (error) {
    setImmediate(() => listener.onExit({ code: null, signal: null, error: (error as Error).message }));
    return noChild;
  }
  const { pid } = child;
  child.on('message', (message) => listener.onMessage(message));
  for (const name of ['stdout', 'stderr'] as const) readInPeace(child[name], (chunk) => listener.onOutput(name, chunk));
  // Without a pid it never ran; with one, 'exit' follows and a failed send or signal needs no answer.
  child.on('error', (error) => {
    if (pid === undefined) listener.onExit({ code: null, signal: null, error: error.message });
  });
  child.once('exit', (code, signal) => {
    if (pid !== undefined) killGroup(pid);
    afterOutput(child, () => listener.onExit({ code, signal, error: null }));
  });
  return {
    pid: pid ?? null,
    send: (message) => child.connected && child.send(message as object, () => undefined),
    terminate: () => void child.kill('SIGTERM'),
    killGroup() {
      if (pid !== undefined) killGroup(pid);
      child.kill('SIGKILL');
    },
  };
};

/** A child that writes faster than this waits: reading it may not take up its parent's time. */
const readLimit = { bytes: 1024 * 1024, perMs: 50 };

function readInPeace(stream: Readable | null, take: (chunk: Buffer) => void): void {
  let read = 0;
  let timer: NodeJS.Timeout | null = null;
  const goOn = () => {
    read = 0;
    timer = null;
    stream?.resume();
  };
  stream?.on('data', (chunk: Buffer) => {
    timer ??= setTimeout(goOn, readLimit.perMs);
    read += chunk.length;
    if (read >= readLimit.bytes) stream.pause();
    take(chunk);
  });
}

function afterOutput(child: ChildProcess, done: () => void): void {
  const timer = setTimeout(() => {
    child.stdout?.destroy();
    child.stderr?.destroy();
  }, lastOutputMs);
  child.once('close', () => {
    clearTimeout(timer);
    done();
  });
}

const noChild: SpawnedChild = { pid: null, send: () => false, terminate: () => undefined, killGroup: () => undefined };
