import type { Clock } from '@svc/service-kit/clock.ts';
import type { LogLine } from './child-spec.ts';
import { createLineGate } from './line-gate.ts';

export const logLimits = { lines: 500, lineBytes: 8 * 1024 } as const;

/** The last lines of a child's output. Memory and time are bounded whatever the child prints. */
export type LogRing = {
  write(stream: LogLine['stream'], chunk: Buffer): void;
  /** Takes an unfinished line as complete, because the process has ended. */
  flush(): void;
  lines(): LogLine[];
};

type Options = {
  clock: Clock;
  /** Earlier lines, oldest first. */
  earlier?: readonly LogLine[];
  /** Called for every line that enters the ring. */
  onLine?: (line: LogLine) => void;
  /** Masks secrets before a line is kept anywhere. */
  mask?: (text: string) => string;
};

export function createLogRing({ clock, earlier = [], onLine, mask }: Options): LogRing {
  const ring: LogLine[] = earlier.slice(-logLimits.lines);
  let oldest = 0;
  const gate = createLineGate(clock, ({ stream, text: raw }) => {
    const text = mask === undefined ? raw : mask(raw);
    const line: LogLine = { at: clock.now(), stream, text };
    if (ring.length < logLimits.lines) ring.push(line);
    else {
      ring[oldest] = line;
      oldest = (oldest + 1) % logLimits.lines;
    }
    onLine?.(line);
  });
  const splitters = {
    stdout: createLineSplitter((text) => gate.push({ stream: 'stdout', text })),
    stderr: createLineSplitter((text) => gate.push({ stream: 'stderr', text })),
  };
  return {
    write: (stream, chunk) => splitters[stream].write(chunk),
    flush() {
      splitters.stdout.flush();
      splitters.stderr.flush();
      gate.drain();
    },
    lines() {
      gate.drain();
      return [...ring.slice(oldest), ...ring.slice(0, oldest)];
    },
  };
}

/** Splits bytes into lines. Only the beginning of a line past the limit is stored. */
function createLineSplitter(onText: (text: string) => void) {
  let parts: Buffer[] = [];
  let kept = 0;
  let cut = false;
  const add = (piece: Buffer) => {
    const room = logLimits.lineBytes - kept;
    if (piece.length > room) cut = true;
    if (room <= 0 || piece.length === 0) return;
    // Copied, because a slice would keep the whole chunk alive.
    parts.push(Buffer.from(piece.subarray(0, room)));
    kept += Math.min(piece.length, room);
  };
  const end = () => {
    const text = Buffer.concat(parts).toString('utf8').replace(/\r$/, '');
    if (text !== '') onText(cut ? `${text} … [cut]` : text);
    parts = [];
    kept = 0;
    cut = false;
  };
  return {
    write(chunk: Buffer) {
      let from = 0;
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
        add(chunk.subarray(from, at));
        end();
        from = at + 1;
      }
      add(chunk.subarray(from));
    },
    flush: end,
  };
}
