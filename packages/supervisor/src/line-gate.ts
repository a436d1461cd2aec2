import { counted } from '@svc/service-kit/words.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { LogLine } from './child-spec.ts';

/** What a line costs is its masking: some 0.1 ms for a KiB. This much a child may have of its parent's time. */
export const gateLimits = {
  waiting: 500,
  /** All of it may be asked for at once. */
  waitingCharacters: 512 * 1024,
  burstBytes: 256 * 1024,
  bytesPerMs: 160,
  pauseMs: 50,
} as const;

type Raw = Pick<LogLine, 'stream' | 'text'>;

/** Passes lines on as they come, and of a flood the newest, no faster than can be borne. Memory is bounded. */
export type LineGate = {
  push(line: Raw): void;
  /** Passes on what waits, at once: it is asked for, or no more will come. */
  drain(): void;
};

export function createLineGate(clock: Clock, pass: (line: Raw) => void): LineGate {
  let waiting: Raw[] = [];
  let waitingCharacters = 0;
  let leftOut = { lines: 0, characters: 0 };
  let allowed: number = gateLimits.burstBytes;
  let refilledAt = clock.elapsed();
  let isPausing = false;

  function refill(): void {
    const now = clock.elapsed();
    allowed = Math.min(gateLimits.burstBytes, allowed + (now - refilledAt) * gateLimits.bytesPerMs);
    refilledAt = now;
  }

  function passOn(line: Raw): void {
    allowed -= line.text.length;
    pass(line);
  }

  function wait(line: Raw): void {
    waiting.push(line);
    waitingCharacters += line.text.length;
    while (waiting.length > gateLimits.waiting || waitingCharacters > gateLimits.waitingCharacters) leaveOut(waiting.shift());
    if (isPausing) return;
    isPausing = true;
    clock.after(gateLimits.pauseMs, goOn);
  }

  function leaveOut(oldest: Raw | undefined): void {
    const length = oldest?.text.length ?? 0;
    waitingCharacters -= length;
    leftOut = { lines: leftOut.lines + 1, characters: leftOut.characters + length };
  }

  function takeWaiting(): Raw[] {
    const from = waiting;
    waiting = [];
    waitingCharacters = 0;
    return from;
  }

  function goOn(): void {
    isPausing = false;
    refill();
    const from = takeWaiting();
    tellLeftOut(from[0]);
    for (const line of from) {
      if (allowed > 0 && waiting.length === 0) passOn(line);
      else wait(line);
    }
  }

  function tellLeftOut(next: Raw | undefined): void {
    const { lines, characters } = leftOut;
    if (lines === 0 || next === undefined) return;
    leftOut = { lines: 0, characters: 0 };
    const mib = (characters / 1024 / 1024).toFixed(1);
    passOn({ stream: next.stream, text: `[${counted(lines, 'line')} (${mib} MiB) left out: more than can be kept up with]` });
  }

  return {
    push(line) {
      if (allowed <= 0) refill();
      if (allowed > 0 && waiting.length === 0) passOn(line);
      else wait(line);
    },
    drain() {
      const from = takeWaiting();
      tellLeftOut(from[0]);
      from.forEach(passOn);
    },
  };
}
