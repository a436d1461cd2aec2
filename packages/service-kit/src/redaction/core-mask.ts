import type { SecretMaskAnswer } from '@svc/contract/secret-mask.ts';
import type { Clock } from '../clock.ts';
import { requestJson } from '../http/json-client.ts';
import type { Secret } from '../secret.ts';
import { errorText } from '../service-error.ts';
import type { MaskedJson } from './outbound-mask.ts';

const usualTimeoutMs = 10_000;
/** A core that timed out is not asked again for this long, or every read would wait. A refused connection costs no time. */
const pauseMs = 5000;
const absentPauseMs = 250;
/** A fault that has not recurred for this long is over. */
const staleMs = 60_000;
/** All processes start together, so a core that is not up yet is no fault. */
const startMs = 15_000;

/** Asks the core to mask its secrets. */
export interface CoreMask {
  /** Masks the secrets that only the core knows in JSON text. */
  json(json: MaskedJson): Promise<MaskedJson>;
  /** One line for /health. */
  fault(): string | null;
}

/**
 * The secrets that only the core knows (from its environment, the vault, the secrets command, tool servers) stay there: texts are
 * sent to the core, which returns them masked. While it is unreachable, only what this process knows is masked, and `fault` says so.
 */
export function createCoreMask(
  coreUrl: string,
  token: Secret | null,
  clock: Pick<Clock, 'elapsed'>,
  timeoutMs = usualTimeoutMs,
): CoreMask {
  const url = `${coreUrl}/v2/secrets/mask`;
  let fault: string | null = null;
  const createdAt = clock.elapsed();
  let pausedUntil = Number.NEGATIVE_INFINITY;

  return {
    async json(json: MaskedJson): Promise<MaskedJson> {
      if (clock.elapsed() < pausedUntil) return json;
      try {
        const { status, body } = await requestJson<SecretMaskAnswer>(url, { token, json, timeoutMs });
        if (status !== 200) throw new Error(`it answered ${status}`);
        fault = null;
        // The cast is safe: the core has masked it.
        return body.masked ? (JSON.stringify(body.value) as MaskedJson) : json;
      } catch (error) {
        const isAbsent = (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
        pausedUntil = clock.elapsed() + (isAbsent ? absentPauseMs : pauseMs);
        if (isAbsent && clock.elapsed() - createdAt < startMs) return json;
        fault = `The core could not be asked (${errorText(error)}), so secrets that only the core knows are not masked in responses of this process.`;
        return json;
      }
    },
    fault: () => (clock.elapsed() < pausedUntil + staleMs ? fault : null),
  };
}
