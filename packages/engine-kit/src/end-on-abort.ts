import type { EngineEvent } from './engine.ts';
import type { EventQueue } from './event-queue.ts';

export type Ending = {
  /** Asks the program to end its turn. */
  interrupt(): void;
  /** Ends the program's part in the turn by force, within a limited time. */
  kill(): Promise<unknown>;
  /** Time from the interrupt to the kill, ms. */
  graceMs: number;
  /** Final events of the turn if the program sends none. */
  lastWords(): EngineEvent[];
};

/**
 * Ends a queue's turn when the signal aborts: first by asking the program, then by force. The queue always ends, even if the program cannot
 * be killed. A turn that has already ended is left alone.
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
