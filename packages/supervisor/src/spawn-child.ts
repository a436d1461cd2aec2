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
  /** False when the child cannot be reached any more. */
  send(message: unknown): boolean;
  terminate(): void;
  /** SIGKILL for the process and all it started in its group. */
  killGroup(): void;
};

export type Spawn = (spec: ChildSpec, listener: ChildListener) => SpawnedChild;

/** A program that inherited the pipes can hold them open long after the child is gone. */
const lastOutputMs = 250;

/** Runs the spec's module as the leader of a process group of its own. The spec's environment is all it gets. */
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
  // Without a pid it never ran; with one, 'exit' follows and a failed signal needs no answer.
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

/** Descriptor of the channel in the child. */
const channelFd = 3;

/** Not `fork`: its end of the channel is not bounded, and what is no JSON there ends the parent. */
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
  // Without a process there may be no list of pipes either.
  const pipe = (child.stdio as ChildProcess['stdio'] | undefined)?.[channelFd];
  if (!(pipe instanceof Duplex)) return null;
  const note = (text: string) => onOutput('stderr', Buffer.from(`[${text}]\n`));
  return openChildChannel(pipe, {
    onMessage,
    onFault(why) {
      // First, or it could still end as if it had been asked to.
      end(why);
      note(`ended by its parent: ${why}`);
    },
    onHurry: () => note('it says more to its parent than can be kept up with, and has to wait'),
  });
}

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
