import type { Redactor } from '@svc/service-kit/redaction/redactor.ts';
import { createLongStream, type LongStream } from '@svc/service-kit/redaction/long-stream.ts';
import { settle, type TextSteps } from './maybe-later.ts';

/** A stream that goes on with the redactor of the moment when another secret becomes known. */
export function createRenewedStream(current: () => Redactor): LongStream {
  let redactor: Redactor | null = null;
  /** Made with the first text: most turns show none of what goes through here. */
  let stream: LongStream | null = null;

  /** What the old list held back may be a part of what the new one knows. */
  function* renewed(text: string): TextSteps<string> {
    const next = current();
    if (stream !== null && next === redactor) return yield stream.push(text);
    const held = stream === null ? '' : yield stream.end();
    redactor = next;
    stream = createLongStream(redactor);
    return yield stream.push(held + text);
  }
  function* ended(): TextSteps<string> {
    if (stream === null) return '';
    return (yield* renewed('')) + (yield stream.end());
  }
  return { push: (text) => settle(renewed(text)), end: () => settle(ended()) };
}
