import { cutText } from '../cut-text.ts';
import { createLongStream } from './long-stream.ts';
import { inTurns, maskingOf } from './mask-value.ts';
import { createPace, type Pace } from './pace.ts';
import type { Redactor } from './redactor.ts';

/** The parts of a redactor that mask a text. */
type TextMask = Pick<Redactor, 'text' | 'stream' | 'offload'>;
type LongMask = TextMask & Pick<Redactor, 'offloadStream'>;

/** A text up to this length is masked at once. */
const shortText = 4096;
const sliceLength = 2048;

/**
 * The result of `redactor.text`. A long text is masked in slices, so that nothing else waits for all of it, and an expensive one
 * goes to the thread. A short text is masked at once and returned without a promise.
 */
export function textInSlices(redactor: TextMask, text: string): string | Promise<string> {
  return text.length <= shortText ? redactor.text(text) : sliced(redactor, text, createPace());
}

async function sliced({ stream, offload }: Pick<Redactor, 'stream' | 'offload'>, text: string, pace: Pace): Promise<string> {
  const masking = stream();
  let out = '';
  let spentMs = 0;
  let elsewhere = (await offload?.(text, spentMs)) ?? null;
  for (let at = 0; elsewhere === null && at < text.length; at += sliceLength) {
    if (pace.isDue()) {
      await pace.pause();
      elsewhere = (await offload?.(text, spentMs)) ?? null;
    }
    const began = performance.now();
    out += masking.push(text.slice(at, at + sliceLength));
    spentMs += performance.now() - began;
  }
  return elsewhere ?? out + masking.end();
}

/** The same for many texts. */
export async function textsInSlices(redactor: TextMask, texts: readonly string[]): Promise<string[]> {
  const pace = createPace();
  const out: string[] = [];
  for (const text of texts) {
    out.push(text.length <= shortText ? redactor.text(text) : await sliced(redactor, text, pace));
    if (pace.isDue()) await pace.pause();
  }
  return out;
}

/** The result of `redactor.value`, for a value with many or long texts. */
export const valueInSlices = (redactor: TextMask & Pick<Redactor, 'known'>, value: unknown): Promise<unknown> =>
  inTurns(maskingOf(value), ({ text, isNumber }) => (isNumber ? redactor.known(text) : textInSlices(redactor, text)));

/**
 * The masked beginning of a text, of at most `max` characters. However long the text is, only that much is read, and what could
 * still change its end.
 */
export async function beginningInSlices(redactor: LongMask, text: string, max: number): Promise<string> {
  if (text.length <= max + margin) return cutText(await textInSlices(redactor, text), max);
  // The stream is not ended: what it still holds back may be half of a secret.
  return cutText(await createLongStream(redactor).push(text.slice(0, max + margin)), max);
}

/** The same, synchronously, for a short beginning. */
export function beginningAtOnce({ stream }: Pick<Redactor, 'stream'>, text: string, max: number): string {
  const masking = stream();
  const masked = masking.push(text.slice(0, max + margin));
  return cutText(text.length <= max + margin ? masked + masking.end() : masked, max);
}

/** More than a stream ever holds back. */
const margin = 16_384;
