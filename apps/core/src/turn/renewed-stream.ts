import type { Redactor } from '@svc/service-kit/redaction/redactor.ts';
import type { StreamRedactor } from '@svc/service-kit/redaction/stream-redactor.ts';

/** A stream that goes on with the redactor of the moment when another secret becomes known. */
export function createRenewedStream(current: () => Redactor): StreamRedactor {
  let redactor = current();
  let stream = redactor.stream();

  /** What the old list held back may be a part of what the new one knows. */
  const renewed = (): string => {
    const next = current();
    if (next === redactor) return '';
    const held = stream.end();
    redactor = next;
    stream = redactor.stream();
    return held;
  };
  return {
    push: (text) => stream.push(renewed() + text),
    end() {
      const held = renewed();
      return stream.push(held) + stream.end();
    },
  };
}
