import type { Envelope } from '@svc/contract/envelope.ts';
import type { Intake } from '@svc/service-kit/intake/intake.ts';

/** About how much memory each part of a JSON value takes, besides its characters. */
const partBytes = 32;

/**
 * Counts the memory of an envelope until its turn is over, whether or not its caller still waits.
 * @throws ServiceError `queue_full` when turns hold too much already.
 */
export function holdInput(intake: Pick<Intake, 'work' | 'limits' | 'full'>, envelope: Envelope): () => void {
  const bytes = weightOf(envelope);
  const lease = intake.work.lease();
  if (bytes > intake.limits.freeBytes && !lease.take(bytes)) throw intake.full();
  return () => lease.release();
}

/** About how much memory a value from JSON takes. */
export function weightOf(value: unknown): number {
  const rest: object[] = [];
  let bytes = 0;
  const add = (part: unknown) => {
    bytes += partBytes;
    if (typeof part === 'string') bytes += part.length;
    else if (typeof part === 'object' && part !== null) rest.push(part);
  };
  add(value);
  for (let part = rest.pop(); part !== undefined; part = rest.pop()) {
    if (Array.isArray(part)) part.forEach(add);
    else
      for (const name in part) {
        bytes += name.length;
        add((part as Record<string, unknown>)[name]);
      }
  }
  return bytes;
}
