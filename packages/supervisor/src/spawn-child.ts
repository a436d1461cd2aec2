import { spawn, type ChildProcess } from 'node:child_process';
import { Duplex, type Readable } from 'node:stream';
import { openChildChannel, type ChildChannel } from './child-channel.ts';
import type { ChildSpec, LogLine } from './child-spec.ts';
import type { Exit } from './exit-reason.ts';
import { killGroup } from '@svc/service-kit/process/process-group.ts';

export type ChildListener = {
  onMessage(message: unknown): void;
  onOutput(stream: LogLine['stream'], chunk: Buffer): void;
  /** Called exactly once, never before `spawn` has returned, after the last output. */
  onExit(exit: Exit): void;
};

export type SpawnedChild = {
  readonly pid: number | null;
  /** False when the child is no longer reachable. */
  send(message: unknown): boolean;
  terminate(): void;
  /** Sends SIGKILL to the process and everything in its group. */
  killGroup(): void;
};

export type Spawn = (spec: ChildSpec, listener: ChildListener) => SpawnedChild;

/** A program that inherited the pipes can keep them open long after the child has ended. */
const lastOutputMs = 250;

/** Runs the spec's module as the leader of its own process group, with only the spec's environment. */
export const spawnChild: Spawn = (spec, listener) => {
  let child: ChildProcess;
  try {
    child = startNode(spec);
  } catch (error) {
    setImmediate(() => listener.onExit({ code: null, signal: null, error: (error as Error).message }));
    return noChild;
  }
  const { pid } = child;
  const end = () => {
    if (pid !== undefined) killGroup(pid);
    child.kill('SIGKILL');
  };
  let endedFor: string | undefined;
  const channel = openChannel(child, listener, (why) => {
    endedFor = why;
    end();
  });
  for (const name of ['stdout', 'stderr'] as const) readInPeace(child[name], (chunk) => listener.onOutput(name, chunk));
  // Without a pid it never ran; with one, 'exit' follows, and a failed signal can be ignored.
  child.on('error', (error) => {
    if (pid === undefined) listener.onExit({ code: null, signal: null, error: error.message });
  });
  child.once('exit', (code, signal) => {
    if (pid !== undefined) killGroup(pid);
    afterOutput(child, channel, () => listener.onExit({ code, signal, error: null, endedFor }));
  });
  return {
    pid: pid ?? null,
    send: (message) => channel?.send(message) ?? false,
    terminate: () => void child.kill('SIGTERM'),
    killGroup: end,
  };
};

/** The child's file descriptor of the channel. */
const channelFd = 3;

/** It does not use `fork`, whose channel is unbounded and ends the parent over a line that is not JSON. */
const startNode = ({ entry, args = [], execArgv = [], heapMb, env, cwd }: ChildSpec): ChildProcess =>
  spawn(process.execPath, [...execArgv, ...(heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`]), entry, ...args], {
    env: { ...env, NODE_CHANNEL_FD: String(channelFd), NODE_CHANNEL_SERIALIZATION_MODE: 'json' },
    cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });

/** Null when there is no process. */
function openChannel(
  child: ChildProcess,
  { onMessage, onOutput }: ChildListener,
  end: (why: string) => void,
): ChildChannel | null {
  // Without a process, `stdio` may be missing too.
  const pipe = (child.stdio as ChildProcess['stdio'] | undefined)?.[channelFd];
  if (!(pipe instanceof Duplex)) return null;
  const note = (text: string) => onOutput('stderr', Buffer.from(`[${text}]\n`));
  return openChildChannel(pipe, {
    onMessage,
    onFault(why) {
      // Killed first, or it could still exit as if it had been asked to.
      end(why);
      note(`ended by its parent: ${why}`);
    },
    onHurry: () => note('it sends its parent more messages than it can process, and is slowed down'),
  });
}

/** A child that writes faster than this has to wait, so that it does not use up its parent's time. */
const readLimit = { bytes: 1024 * 1024, perMs: 50 };

function readInPeace(stream: Readable | null, take: (chunk: Buffer) => void): void {
  let read = 0;
  let timer: NodeJS.Timeout | null = null;
  const resume = () => {
    read = 0;
    timer = null;
    stream?.resume();
  };
  stream?.on('data', (chunk: Buffer) => {
    timer ??= setTimeout(resume, readLimit.perMs);
    read += chunk.length;
    if (read >= readLimit.bytes) stream.pause();
    take(chunk);
  });
}

function afterOutput(child: ChildProcess, channel: ChildChannel | null, done: () => void): void {
  const timer = setTimeout(() => {
    channel?.close();
    child.stdout?.destroy();
    child.stderr?.destroy();
  }, lastOutputMs);
  child.once('close', () => {
    clearTimeout(timer);
    done();
  });
}

const noChild: SpawnedChild = { pid: null, send: () => false, terminate: () => undefined, killGroup: () => undefined };
