import { parseRecordOrNull } from '@svc/contract/json-value.ts';
import { createLineSplitter } from '@svc/service-kit/line-splitter.ts';
import { spawnOwned, type StopTimes } from '@svc/service-kit/process/owned-process.ts';
import { signalGroup } from '@svc/service-kit/process/process-group.ts';
import { createTextTail } from '@svc/service-kit/process/text-tail.ts';
import type { EngineFailure } from './engine.ts';
import { createLineGate } from './line-gate.ts';
import { lineTooLong } from './output-limits.ts';
import { tieToParent } from './parent-tie.ts';

export type LineProcessSpec = {
  command: string;
  args: readonly string[];
  env: Record<string, string>;
  cwd: string;
  /** Written to stdin, which is then closed. Omit it for a program that uses `send`. */
  input?: string;
  /** Called for each JSON object on stdout. Other lines go to `onNoise`. */
  onMessage(message: Record<string, unknown>): void;
  onNoise?(line: string): void;
  /** Maximum line length in characters. A program that writes a longer line is ended. */
  maxLine: number;
  stopTimes?: StopTimes;
};

/**
 * Why a process ended. `reason`: one line for a person, with the end of stderr if there was any. `overflow`: it was ended because a line
 * was too long.
 */
export type ProcessEnd = {
  code: number | null;
  signal: NodeJS.Signals | null;
  overflow: EngineFailure | null;
  reason: string;
};

export type LineProcess = {
  readonly pid: number | undefined;
  /** Settles when the process is gone for any reason, even if it could not be started. */
  readonly ended: Promise<ProcessEnd>;
  /** Aborts once the process is asked to end, or has ended: a message that is sent later may get no answer. */
  readonly ending: AbortSignal;
  /** Writes one JSON line, or drops it when the process is gone, which `ended` reports. */
  send(message: object): void;
  stderrTail(): string;
  /** Sends a signal to the process and its group. */
  signal(signal: NodeJS.Signals): void;
  /** Ends the process and all its child processes, gracefully at first; within a limited time. */
  stop(): Promise<void>;
  /** Ends the process and all its child processes at once; within a limited time. */
  kill(): Promise<void>;
  /** Ends the leftover processes of its commands, while it continues to run. */
  endOrphans(): Promise<void>;
};

/** Starts a program that exchanges newline-delimited JSON on stdin and stdout, and owns all its child processes. */
export function startLineProcess(spec: LineProcessSpec): LineProcess {
  const { command, args } = tieToParent(spec.command, spec.args, spec.env.PATH);
  const owned = spawnOwned(command, args, { env: spec.env, cwd: spec.cwd, contained: true });
  const { child } = owned;
  const stderr = createTextTail();
  const { promise: ended, resolve: setEnded } = Promise.withResolvers<ProcessEnd>();
  const ending = new AbortController();
  const end = async (how: () => Promise<boolean>) => {
    ending.abort();
    await how();
  };
  let overflow: ProcessEnd['overflow'] = null;
  const gate = createLineGate(spec.maxLine, () => {
    overflow = lineTooLong(spec.maxLine);
    void end(owned.kill);
  });
  const splitter = createLineSplitter(
    spec.maxLine,
    (line) => readLine(line, spec),
    () => undefined, // the gate passes no longer lines
  );
  child.stdout.pipe(gate).on('data', splitter.push);
  child.stdout.once('close', () => gate.end());
  const isRead = new Promise((resolve) => gate.once('end', resolve));
  child.stderr.setEncoding('utf8').on('data', stderr.add);
  // A write to a process that is ending fails; `ended` reports the end.
  child.stdin.on('error', () => undefined);
  if (spec.input !== undefined) child.stdin.end(spec.input);
  child.once('exit', () => ending.abort());
  child.on('error', (error) => {
    ending.abort();
    setEnded({ code: null, signal: null, overflow: null, reason: `${spec.command} could not be started: ${error.message}` });
  });
  child.on('close', (code, signal) => {
    const how = `ended with ${signal ?? `code ${code}`}`;
    void isRead.then(() => {
      const reason = overflow?.message ?? [`${spec.command} ${how}`, stderr.read()].filter(Boolean).join(': ');
      setEnded({ code, signal, overflow, reason });
    });
  });
  return {
    pid: child.pid,
    ended,
    ending: ending.signal,
    send: (message) => void (child.stdin.writable && child.stdin.write(`${JSON.stringify(message)}\n`)),
    stderrTail: stderr.read,
    signal: (signal) => void signalGroup(child, signal),
    stop: () => end(() => owned.end(spec.stopTimes)),
    kill: () => end(owned.kill),
    endOrphans: owned.endOrphans,
  };
}

function readLine(line: string, spec: LineProcessSpec): void {
  const message = parseRecordOrNull(line);
  if (message) spec.onMessage(message);
  else spec.onNoise?.(line);
}
