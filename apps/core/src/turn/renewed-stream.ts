import type { Redactor } from '@svc/service-kit/redaction/redactor.ts';
import { createLongStream, type LongStream } from '@svc/service-kit/redaction/long-stream.ts';
import { andThen, type MaybeLater } from './maybe-later.ts';

/** A stream that goes on with the redactor of the moment when another secret becomes known. */
export function createRenewedStream(current: () => Redactor): LongStream {
  let redactor: Redactor | null = null;
  /** Made with the first text: most turns show none of what goes through here. */
  let stream: LongStream | null = null;

  const goOn = (text: string): MaybeLater<string> => {
    redactor = current();
    stream = createLongStream(redactor);
    return stream.push(text);
  };
  /** What the old list held back may be a part of what the new one knows. */
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
