import type { Redactor } from '@svc/service-kit/redaction/redactor.ts';
import { createLongStream, type LongStream } from '@svc/service-kit/redaction/long-stream.ts';
import { andThen, type MaybeLater } from './maybe-later.ts';

/** A stream that switches to the current redactor when another secret becomes known. */
export function createRenewedStream(current: () => Redactor): LongStream {
  let redactor: Redactor | null = null;
  /** Created with the first text: most turns have no text for it. */
  let stream: LongStream | null = null;

  const goOn = (text: string): MaybeLater<string> => {
    redactor = current();
    stream = createLongStream(redactor);
    return stream.push(text);
  };
  /** Text held back under the old list may be part of a secret of the new one, so it is pushed again. */
  const push = (text: string): MaybeLater<string> => {
    const next = current();
    if (stream === null) return goOn(text);
    return next === redactor ? stream.push(text) : andThen(stream.end(), (held) => goOn(held + text));
  };
  const end = (): MaybeLater<string> => {
    if (stream === null) return '';
    return andThen(push(''), (text) => andThen(stream?.end() ?? '', (rest) => text + rest));
  };
  return { push, end };
}
