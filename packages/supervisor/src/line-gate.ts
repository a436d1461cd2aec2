import { counted } from '@svc/service-kit/words.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { LogLine } from './child-spec.ts';

/** Masking a line costs some 0.1 ms per KiB. These limit how much of its parent's time a child may use. */
export const gateLimits = {
  waiting: 500,
  /** All of it may be drained at once. */
  waitingCharacters: 512 * 1024,
  burstBytes: 256 * 1024,
  bytesPerMs: 160,
  pauseMs: 50,
} as const;

type Raw = Pick<LogLine, 'stream' | 'text'>;

/** Passes lines on as they come. In a flood, it limits the rate and keeps only the newest lines. Memory is bounded. */
export type LineGate = {
  push(line: Raw): void;
  /** Passes on the waiting lines at once, because they were requested or no more will come. */
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
    clock.after(gateLimits.pauseMs, resume);
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

  function resume(): void {
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
    passOn({ stream: next.stream, text: `[${counted(lines, 'line')} (${mib} MiB) left out: the output came too fast]` });
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
