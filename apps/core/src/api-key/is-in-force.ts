import type { Clock } from '@svc/service-kit/clock.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { Secret } from '@svc/service-kit/secret.ts';

const patienceMs = 8_000;
const askMs = 2_000;
const lookPauseMs = 200;

/** Waits until a running connector accepts (`isGood`) or rejects a key. True as well for a connector that does not run. */
export async function isInForce(clock: Clock, url: string | null, key: string, isGood: boolean): Promise<boolean> {
  if (url === null) return true;
  const until = clock.elapsed() + patienceMs;
  while (clock.elapsed() < until) {
    const token = new Secret(key);
    const answer = await requestJson(`${url}/v1/models`, { token, timeoutMs: askMs }).catch(() => null);
    if (answer !== null && (answer.status !== 401) === isGood) return true;
    await new Promise<void>((resolve) => void clock.after(lookPauseMs, resolve));
  }
  return false;
}
