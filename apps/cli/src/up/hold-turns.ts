import { setTimeout as sleep } from 'node:timers/promises';
import { requestJson } from '@svc/service-kit/http/json-client.ts';

/** For so long turns that run may go on before the service stops for another version, while no other begins. */
export const holdMs = 10_000;
/** Over that: the service has to be stopped by then, or turns begin again. */
const spareMs = 5000;
const askMs = 2000;
const pollMs = 50;

/**
 * Has the core begin no more turns, and waits for those that run. What comes meanwhile is accepted, and runs in the next version; what still runs then
 * is taken up by it. Never rejects: a core that is away, or that knows nothing of this, is not waited for.
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
