import { cutText } from '../cut-text.ts';
import { createLongStream } from './long-stream.ts';
import { inTurns, maskingOf } from './mask-value.ts';
import { createPace, type Pace } from './pace.ts';
import type { Redactor } from './redactor.ts';

/** What a text is masked with. */
type TextMask = Pick<Redactor, 'text' | 'stream' | 'offload'>;
type LongMask = TextMask & Pick<Redactor, 'offloadStream'>;

/** A text up to this length is masked at once. */
const shortText = 4096;
const sliceLength = 2048;

/**
 * What `redactor.text` gives, made in slices for a long text, so that nothing else waits for the whole of it; one that costs
 * much goes to the thread. A short text is masked at once and comes without a promise.
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

/** The same of many texts. */
export async function textsInSlices(redactor: TextMask, texts: readonly string[]): Promise<string[]> {
  const pace = createPace();
  const out: string[] = [];
  for (const text of texts) {
    out.push(text.length <= shortText ? redactor.text(text) : await sliced(redactor, text, pace));
    if (pace.isDue()) await pace.pause();
  }
  return out;
}

/** What `redactor.value` gives, of a value with many or long texts in it. */
export const valueInSlices = (redactor: TextMask & Pick<Redactor, 'known'>, value: unknown): Promise<unknown> =>
  inTurns(maskingOf(value), ({ text, isNumber }) => (isNumber ? redactor.known(text) : textInSlices(redactor, text)));

/**
 * The beginning of a text as it may leave, of at most `max` characters. No more than that and what could still change its end
 * is read, however long the text is.
 */
export async function beginningInSlices(redactor: LongMask, text: string, max: number): Promise<string> {
  if (text.length <= max + margin) return cutText(await textInSlices(redactor, text), max);
  // It is not ended: what the stream still holds then may be half of a secret.
  return cutText(await createLongStream(redactor).push(text.slice(0, max + margin)), max);
}

/** The same at once, for a short beginning. */
export function beginningAtOnce({ stream }: Pick<Redactor, 'stream'>, text: string, max: number): string {
  const masking = stream();
  const masked = masking.push(text.slice(0, max + margin));
  return cutText(text.length <= max + margin ? masked + masking.end() : masked, max);
}

/** More than is ever held back. */
const margin = 16_384;
