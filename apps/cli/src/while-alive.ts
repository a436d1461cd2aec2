import { setTimeout as delay } from 'node:timers/promises';
import { requestJson } from '@svc/service-kit/http/json-client.ts';

/** A process that works on a long answer still answers `/health`. */
export type Patience = { pauseMs: number; healthMs: number };
const usual: Patience = { pauseMs: 500, healthMs: 2000 };

/** Thrown when a process no longer answers anything. */
export class NotAlive extends Error {
  readonly silentMs: number;

  constructor(silentMs: number) {
    super(`it has not responded for ${silentMs / 1000} s`);
    this.silentMs = silentMs;
  }
}

/**
 * Waits for an answer while the process at `origin` is alive, which is checked through its health again and again. A
 * refused connection counts as an answer, because the error of `ask` explains it better. @throws NotAlive
 */
export async function whileAlive<T>(
  origin: string,
  ask: (signal: AbortSignal) => Promise<T>,
  { pauseMs, healthMs }: Patience = usual,
): Promise<T> {
  const hung = new AbortController();
  const answered = new AbortController();
  const watch = async (): Promise<void> => {
    while (!answered.signal.aborted) {
      await delay(pauseMs, undefined, { signal: answered.signal });
      await requestJson(`${origin}/health`, { timeoutMs: healthMs, signal: answered.signal });
    }
  };
  watch().catch((error: unknown) => {
    // Any failure except silence ends the request itself.
    if (isTimeout(error) && !answered.signal.aborted) hung.abort();
  });
  try {
    return await ask(hung.signal);
  } catch (error) {
    throw hung.signal.aborted ? new NotAlive(pauseMs + healthMs) : error;
  } finally {
    answered.abort();
  }
}

const isTimeout = (error: unknown): boolean => ['TimeoutError', 'AbortError'].includes((error as Error).name);
