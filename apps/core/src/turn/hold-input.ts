import type { Envelope } from '@svc/contract/envelope.ts';
import type { Intake } from '@svc/service-kit/intake/intake.ts';

/** Of a value from JSON, for each of its parts: about what its memory costs beside its characters. */
const partBytes = 32;

/**
 * Counts an envelope until its turn is over, however it came and whether or not its caller still waits.
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
  const rest: unknown[] = [value];
  let bytes = 0;
  while (rest.length > 0) {
    const part = rest.pop();
    bytes += partBytes;
    if (typeof part === 'string') bytes += part.length;
    if (typeof part !== 'object' || part === null) continue;
    for (const [name, inner] of Object.entries(part)) {
      bytes += name.length;
      rest.push(inner);
    }
  }
  return bytes;
}
