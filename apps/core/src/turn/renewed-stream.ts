import type { Redactor } from '@svc/service-kit/redaction/redactor.ts';
import type { StreamRedactor } from '@svc/service-kit/redaction/stream-redactor.ts';

/** A stream that goes on with the redactor of the moment when another secret becomes known. */
export function createRenewedStream(current: () => Redactor): StreamRedactor {
  let redactor: Redactor | null = null;
  /** Made with the first text: most turns show none of what goes through here. */
  let stream: StreamRedactor | null = null;

  /** What the old list held back may be a part of what the new one knows. */
  const renewed = (text: string): string => {
    const next = current();
    if (stream === null || next !== redactor) {
      const held = stream?.end() ?? '';
      redactor = next;
      stream = redactor.stream();
      return stream.push(held + text);
    }
    return stream.push(text);
  };
  return {
    push: renewed,
    end: () => (stream === null ? '' : renewed('') + stream.end()),
  };
}
