import { setTimeout as sleep } from 'node:timers/promises';
import { requestJson } from '@svc/service-kit/http/json-client.ts';

/** How long running turns may continue before the service stops for another version, while no new ones begin. */
export const holdMs = 10_000;
/** The service must have stopped this long after that, or turns begin again. */
const spareMs = 5000;
const askMs = 2000;
const pollMs = 50;

/**
 * Asks the core to begin no more turns, and waits for the running ones. New messages are accepted and run in the next version, which also
 * resumes turns that are still running. Never rejects: a core that is down, or too old for this request, is not waited for.
 */
export async function holdTurns(coreUrl: string): Promise<void> {
  for (const until = performance.now() + holdMs; ;) {
    const running = await hold(coreUrl, Math.ceil(until - performance.now()) + spareMs);
    if (running === 0 || performance.now() >= until) return;
    await sleep(pollMs);
  }
}

async function hold(coreUrl: string, ms: number): Promise<number> {
  try {
    const { body } = await requestJson<{ running?: number }>(`${coreUrl}/v2/update/hold`, { body: { ms }, timeoutMs: askMs });
    return body.running ?? 0;
  } catch {
    return 0;
  }
}
