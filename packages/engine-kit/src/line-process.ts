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
  /** Written to stdin, which is closed after it. Leave it out for a program that is spoken to with `send`. */
  input?: string;
  /** Called for every JSON line of stdout. Lines that are no JSON object go to `onNoise`. */
  onMessage(message: Record<string, unknown>): void;
  onNoise?(line: string): void;
  /** Longest line, in characters. A program that writes a longer one is ended. */
  maxLine: number;
  stopTimes?: StopTimes;
};

/**
 * Why a process ended: `reason` is one line for a person, with the end of stderr when there was any; `overflow` when it was
 * ended for a line that is too long.
 */
export type ProcessEnd = {
  code: number | null;
  signal: NodeJS.Signals | null;
  overflow: EngineFailure | null;
  reason: string;
};

export type LineProcess = {
  readonly pid: number | undefined;
  /** Settles when the process is gone, however it went, even if it could not be started. */
  readonly ended: Promise<ProcessEnd>;
  /** Aborts as soon as the process is asked to end, or has ended by itself: what is sent from then on may get no answer. */
  readonly ending: AbortSignal;
  /** Writes one JSON line. Dropped when the process is gone: `ended` reports that. */
  send(message: object): void;
  stderrTail(): string;
  /** Sends a signal to the process and its group. */
  signal(signal: NodeJS.Signals): void;
  /** Ends the process and all it has started, asking first; bounded. */
  stop(): Promise<void>;
  /** Ends the process and all it has started at once; bounded. */
  kill(): Promise<void>;
  /** Ends what its commands have left behind, while it goes on. */
  endOrphans(): Promise<void>;
};

/** Starts a program that speaks newline-delimited JSON on stdin and stdout, and owns all that it starts. */
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
    () => undefined, // the gate lets none through
  );
  child.stdout.pipe(gate).on('data', splitter.push);
  child.stdout.once('close', () => gate.end());
  const isRead = new Promise((resolve) => gate.once('end', resolve));
  child.stderr.setEncoding('utf8').on('data', stderr.add);
  // A write to a process that is just ending fails; `ended` reports that end.
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
