import { retryAfterMs } from '@svc/engine-kit/retry-after.ts';

/** The model service's answer instead of a reply. */
export type Refusal = {
  /** HTTP status; 0 when there was no answer at all. */
  status: number;
  /** The vendor's code for the reason, if there was one. */
  reason: string | null;
  message: string;
  /** When a retry makes sense, if the vendor named a time. */
  retryAfterMs?: number;
};

type Detail = { '@type'?: string; reason?: string; retryDelay?: string; violations?: { quotaId?: string }[] };

/** Parses the body of a refused request. `headers` may contain the time to wait; `now` is for limits that end at midnight. */
export function parseRefusal(status: number, body: string, retryAfter: string | undefined, now: Date): Refusal {
  const { message, details } = parseBody(body);
  const ofType = (name: string) => details.find((detail) => detail['@type']?.endsWith(`.${name}`));
  const quotas = ofType('QuotaFailure')?.violations ?? [];
  const isDaily = quotas.some(({ quotaId }) => /PerDay|Daily/.test(quotaId ?? ''));
  const retryAfterMs = isDaily ? msToPacificMidnight(now) : waitOf(ofType('RetryInfo')?.retryDelay, retryAfter, message, now);
  return {
    status,
    reason: ofType('ErrorInfo')?.reason ?? null,
    message: message === '' ? `The model service answered with status ${status}` : message,
    ...(retryAfterMs !== null && { retryAfterMs }),
  };
}

function parseBody(body: string): { message: string; details: Detail[] } {
  try {
    const parsed = JSON.parse(body) as { error?: { message?: unknown; details?: unknown } } | { error?: undefined }[];
    const error = Array.isArray(parsed) ? parsed[0]?.error : parsed.error;
    const { message, details } = (error ?? {}) as { message?: unknown; details?: unknown };
    return { message: typeof message === 'string' ? message : '', details: Array.isArray(details) ? (details as Detail[]) : [] };
  } catch {
    return { message: '', details: [] }; // an error page of an intermediary
  }
}

/** The vendor names the time in a field, in a header, or only in the message. */
function waitOf(retryDelay: string | undefined, header: string | undefined, message: string, now: Date): number | null {
  const field = retryAfterMs(/^([\d.]+)s$/.exec(retryDelay ?? '')?.[1], now.getTime());
  const words = retryAfterMs(/retry in ([\d.]+)s/i.exec(message)?.[1], now.getTime());
  return field ?? retryAfterMs(header, now.getTime()) ?? words;
}

/** The vendor's daily limits end at midnight in California. */
function msToPacificMidnight(now: Date): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: 'America/Los_Angeles',
    hourCycle: 'h23',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(now);
  const value = (type: string) => Number(parts.find((part) => part.type === type)?.value ?? 0);
  return (86_400 - value('hour') * 3600 - value('minute') * 60 - value('second')) * 1000;
}
