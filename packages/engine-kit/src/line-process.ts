import { spawn } from 'node:child_process';
import { createLineSplitter } from '@svc/service-kit/line-splitter.ts';
import { tieToParent } from './parent-tie.ts';
import { endProcessGroup, signalGroup, type StopTimes } from './process-group.ts';
import { createTextTail } from './text-tail.ts';

export type LineProcessSpec = {
  command: string;
  args: readonly string[];
  env: Record<string, string>;
  cwd: string;
  /** Written to stdin, which is closed after it. Leave it out for a program that is spoken to with `send`. */
  input?: string;
  /** Called for every JSON line of stdout. Lines that are no JSON object go to `onNoise`. */
  onMessage(message: Record<string, unknown>): void;
  onNoise?(line: string): void;
  stopTimes?: StopTimes;
};

/** Why a process ended: `reason` is one line for a person, with the end of stderr when there was any. */
export type ProcessEnd = { code: number | null; signal: NodeJS.Signals | null; reason: string };

export type LineProcess = {
  readonly pid: number | undefined;
  /** Settles when the process is gone, however it went, even if it could not be started. */
  readonly ended: Promise<ProcessEnd>;
  /** Writes one JSON line. Dropped when the process is gone: `ended` says so to whoever waits. */
  send(message: object): void;
  stderrTail(): string;
  /** Sends a signal to the process and its group. */
  signal(signal: NodeJS.Signals): void;
  /** Ends the process and its group; bounded. */
  stop(): Promise<void>;
};

/** A base64 image or a file's diff may travel in one line. */
const maxLineLength = 64 * 1024 * 1024;

/** What a program wrote before its end is read within this time. */
const drainMs = 1000;

/** Starts a program that speaks newline-delimited JSON on stdin and stdout, in a process group of its own. */
export function startLineProcess(spec: LineProcessSpec): LineProcess {
  const { command, args } = tieToParent(spec.command, spec.args, spec.env.PATH);
  const child = spawn(command, args, {
    env: spec.env,
    cwd: spec.cwd,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const stderr = createTextTail();
  const { promise: ended, resolve: setEnded } = Promise.withResolvers<ProcessEnd>();
  let overflow = false;
  const stop = () => endProcessGroup(child, spec.stopTimes);
  const splitter = createLineSplitter(
    maxLineLength,
    (line) => readLine(line, spec),
    () => {
      overflow = true;
      void stop();
    },
  );
  child.stdout.on('data', splitter.push);
  child.stderr.setEncoding('utf8').on('data', stderr.add);
  // A write to a process that is just ending fails; `ended` reports that end.
  child.stdin.on('error', () => undefined);
  if (spec.input !== undefined) child.stdin.end(spec.input);
  child.on('error', (error) =>
    setEnded({ code: null, signal: null, reason: `${spec.command} could not be started: ${error.message}` }),
  );
  // What the child leaves behind could hold its pipes open, in its group or out of it, and `close` would never come.
  child.on('exit', () => {
    signalGroup(child, 'SIGKILL');
    setTimeout(() => {
      child.stdout.destroy();
      child.stderr.destroy();
    }, drainMs).unref();
  });
  child.on('close', (code, signal) => {
    const why = overflow ? `wrote a line over ${maxLineLength} characters` : `ended with ${signal ?? `code ${code}`}`;
    setEnded({ code, signal, reason: [`${spec.command} ${why}`, stderr.read()].filter(Boolean).join(': ') });
  });
  return {
    pid: child.pid,
    ended,
    send: (message) => void (child.stdin.writable && child.stdin.write(`${JSON.stringify(message)}\n`)),
    stderrTail: stderr.read,
    signal: (signal) => void signalGroup(child, signal),
    stop,
  };
}

function readLine(line: string, spec: LineProcessSpec): void {
  const message = parseObject(line);
  if (message) spec.onMessage(message);
  else spec.onNoise?.(line);
}

function parseObject(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
