import { isRecord } from '@svc/contract/json-value.ts';
import { callTimeoutMs, maxCallChars } from '@svc/contract/instance-call.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { badRequest, queueFull, ServiceError } from '@svc/service-kit/service-error.ts';
import { inTime } from '@svc/service-kit/within.ts';
import type { Outbound } from '../connector.ts';
import type { Exchange } from '../http/exchange.ts';

type Call = { target: string; method: string; params: Record<string, unknown> };

const maxRunning = 32;

/** Runs a call of the manager: with a timeout, cancelled when nobody waits for it any more, and with a result of limited length. */
export function createCallServer(call: NonNullable<Outbound['call']>, clock: Clock) {
  let running = 0;
  return async ({ res, stopping }: Exchange, body: unknown): Promise<{ ok: true; result: unknown }> => {
    const { target, method, params } = parseCall(body);
    if (running >= maxRunning) throw queueFull(`${maxRunning} calls are already running. Try again in a moment.`);
    const left = new AbortController();
    res.once('close', () => left.abort());
    const signal = AbortSignal.any([left.signal, stopping]);
    // A call that exceeds its time is told to stop, and not waited for.
    const tooLate = () => {
      left.abort();
      throw new ServiceError('upstream', `The channel did not answer within ${callTimeoutMs / 1000} s.`, { status: 504 });
    };
    running++;
    try {
      const result = await inTime((async () => call(target, method, params, signal))(), callTimeoutMs, tooLate, clock);
      return { ok: true, result: checkResult(result) };
    } finally {
      running--;
    }
  };
}

function checkResult(result: unknown): unknown {
  const text = JSON.stringify(result ?? null) as string | undefined;
  if (text === undefined) throw new Error('The result of a call must be JSON.');
  if (text.length > maxCallChars.result)
    throw new ServiceError('too_large', `The result is longer than ${maxCallChars.result / 1024} KiB of JSON.`);
  return result ?? null;
}

/** The manager is trusted, so only what a mix-up could break is checked. Throws `bad_request`. */
function parseCall(value: unknown): Call {
  const { target, method, params } = isRecord(value) ? value : {};
  if (typeof target !== 'string' || typeof method !== 'string' || !isRecord(params))
    throw badRequest('A call must have "target", "method" and "params".');
  return { target, method, params };
}
