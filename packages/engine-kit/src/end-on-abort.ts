import type { EngineEvent } from './engine.ts';
import type { EventQueue } from './event-queue.ts';

export type Ending = {
  /** Asks the program to end its turn. */
  interrupt(): void;
  /** Ends the program's part in the turn whether it likes it or not; bounded. */
  kill(): Promise<unknown>;
  /** From the interrupt to the kill, ms. */
  graceMs: number;
  /** What the turn says at its end when the program does not. */
  lastWords(): EngineEvent[];
};

/**
 * Ends the turn of a queue when the signal aborts: the program is asked, then made to. The queue ends in any case, also
 * when the program cannot be got rid of. A turn that has ended is left alone.
 */
export function endOnAbort(signal: AbortSignal, queue: EventQueue, { interrupt, kill, graceMs, lastWords }: Ending): void {
  let timer: NodeJS.Timeout | undefined;
  const end = async () => {
    await kill();
    for (const event of lastWords()) queue.push(event);
    queue.push({ type: 'aborted' });
    queue.end();
  };
  const onAbort = () => {
    if (queue.state !== 'open') return;
    timer = setTimeout(() => void end(), graceMs);
    interrupt();
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  void queue.ended.then(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  });
}
