import { ServiceError } from '@svc/connector-kit';
import { pcmRates, type PcmFormat, type PcmRate } from '@svc/connector-kit/audio/pcm.ts';

export type Samples = { form: PcmFormat; data: AsyncGenerator<Buffer, void, undefined> };

/** Maximum size of the header before the sound, bytes. */
const longestHead = 64 * 1024;

/**
 * The samples of a wave file as a stream, and their format. Any other data is taken as samples of the format `raw`; with null it is
 * refused.
 * @throws ServiceError `upstream` for what cannot be played
 */
export async function readWav(body: AsyncIterable<Buffer>, raw: PcmFormat | null): Promise<Samples> {
  const iterator = body[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  const asRaw = (): Samples => {
    if (raw === null) throw unreadable();
    return { form: raw, data: rest(head, Infinity, iterator) };
  };
  for (;;) {
    const found = findSamples(head);
    if (found === 'raw') return asRaw();
    if (found !== null) return { form: found.form, data: rest(head.subarray(found.at), found.bytes, iterator) };
    if (head.length > longestHead) throw unreadable();
    const next = await iterator.next();
    if (next.done === true) {
      if (head.length < riffBytes) return asRaw();
      throw unreadable();
    }
    head = Buffer.concat([head, next.value]);
  }
}

const riffBytes = 12;

/** Null while more data is needed. */
function findSamples(head: Buffer): { form: PcmFormat; at: number; bytes: number } | 'raw' | null {
  if (head.length < riffBytes) return null;
  if (head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8, 12) !== 'WAVE') return 'raw';
  let form: PcmFormat | null = null;
  for (let at = riffBytes; at + 8 <= head.length;) {
    const name = head.toString('latin1', at, at + 4);
    const size = head.readUInt32LE(at + 4);
    const start = at + 8;
    if (name === 'data') {
      if (form === null) throw unreadable();
      return { form, at: start, bytes: size };
    }
    if (name === 'fmt ') {
      if (head.length < start + 16) return null;
      form = readForm(head.subarray(start, start + 16));
    }
    at = start + size + (size % 2);
  }
  return null;
}

/** 0xfffe is the extensible format; at 16 bits its samples are integers too. */
function readForm(fmt: Buffer): PcmFormat {
  const [kind, channels, rate, bits] = [fmt.readUInt16LE(0), fmt.readUInt16LE(2), fmt.readUInt32LE(4), fmt.readUInt16LE(14)];
  if ((kind !== 1 && kind !== 0xfffe) || bits !== 16 || (channels !== 1 && channels !== 2) || !isRate(rate)) throw unreadable();
  return { rate, channels };
}

const isRate = (rate: number): rate is PcmRate => pcmRates.some((each) => each === rate);

const unreadable = () =>
  new ServiceError(
    'upstream',
    'The speech provider sent audio that cannot be played: it has no 16-bit samples at a common sample rate.',
  );

async function* rest(first: Buffer, bytes: number, iterator: AsyncIterator<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let left = bytes;
  try {
    for (let part = first; ;) {
      if (part.length > 0) yield part.subarray(0, left);
      left -= part.length;
      if (left <= 0) return;
      const next = await iterator.next();
      if (next.done === true) return;
      part = next.value;
    }
  } finally {
    await iterator.return?.();
  }
}
