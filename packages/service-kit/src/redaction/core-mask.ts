import type { SecretMaskAnswer } from '@svc/contract/secret-mask.ts';
import type { Clock } from '../clock.ts';
import { requestJson } from '../http/json-client.ts';
import type { Secret } from '../secret.ts';
import { errorText } from '../service-error.ts';
import type { MaskedJson } from './outbound-mask.ts';

const usualTimeoutMs = 10_000;
/** A core that does not answer is not asked again for this long, or every read would wait; a refused connection costs no time. */
const pauseMs = 5000;
const absentPauseMs = 250;
/** A fault that was not seen again for this long is over. */
const staleMs = 60_000;
/** All processes start at once: a core that is not there yet is no fault. */
const startMs = 15_000;

/** The core, as it is asked for its secrets. */
export interface CoreMask {
  /** JSON text without the secrets that only the core knows. */
  json(json: MaskedJson): Promise<MaskedJson>;
  /** One line for /health. */
  fault(): string | null;
}

/**
 * The secrets that only the core knows (of its environment, the vault, the secrets command, tool servers) stay there: texts are shown to it, and
 * it gives them back without them. While it cannot be asked, they leave with what this process knows itself, and `fault` says so.
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
        // The cast: made by the mask of the core.
        return body.masked ? (JSON.stringify(body.value) as MaskedJson) : json;
      } catch (error) {
        const isAbsent = (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
        pausedUntil = clock.elapsed() + (isAbsent ? absentPauseMs : pauseMs);
        if (isAbsent && clock.elapsed() - createdAt < startMs) return json;
        fault = `The core could not be asked (${errorText(error)}), so secrets that only it knows are not masked in what is read here.`;
        return json;
      }
    },
    fault: () => (clock.elapsed() < pausedUntil + staleMs ? fault : null),
  };
}
