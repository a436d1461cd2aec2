import { parentPort } from 'node:worker_threads';
import { forgetOldest } from '../forget-oldest.ts';
import type { MaskedText, MaskOrder, MaskWay, StreamWay } from './mask-thread.ts';
import { createOutboundMask } from './outbound-mask.ts';
import { createRedactor } from './redactor.ts';
import type { StreamRedactor } from './stream-redactor.ts';

/**
 * Runs in a thread of its own (`mask-thread.ts`), with the same rules and known values as the process. If new values cannot
 * be applied, the thread ends, so that nothing is masked with outdated ones.
 */
let redactor = createRedactor([]);
const masks: Record<MaskWay, (text: string) => string> = {
  private: (text) => redactor.text(text),
  public: (text) => redactor.forPublic.text(text),
  known: (text) => redactor.known(text),
  json: (text) => createOutboundMask(redactor.known).jsonText(text),
};
const streamsOf: Record<StreamWay, () => StreamRedactor> = {
  private: () => redactor.stream(),
  public: () => redactor.forPublic.stream(),
  known: () => redactor.knownOnly.stream(),
};
/** Streams that are never ended, because a turn was aborted, are evicted: the least recently used first. */
const streams = new Map<number, StreamRedactor>();
const maxStreams = 64;

parentPort?.on('message', (order: MaskOrder) => {
  if ('values' in order) redactor = createRedactor(order.values, order.linkHosts);
  else parentPort?.postMessage(answer(order));
});

function answer(order: Extract<MaskOrder, { number: number }>): MaskedText {
  try {
    return 'stream' in order ? pushed(order) : masked(order);
  } catch {
    return { number: order.number, lost: true }; // its sender masks it instead, and gets the error
  }
}

function masked({ number, way, text }: Extract<MaskOrder, { text: string }>): MaskedText {
  const result = masks[way](text);
  return { number, text: result === text ? null : result };
}

function pushed({ number, way, stream, piece, isFirst, isLast }: Extract<MaskOrder, { stream: number }>): MaskedText {
  const open = isFirst ? streamsOf[way]() : streams.get(stream);
  if (open === undefined) return { number, lost: true };
  streams.delete(stream);
  if (!isLast) streams.set(stream, open);
  forgetOldest(streams, maxStreams);
  const out = isLast ? open.push(piece) + open.end() : open.push(piece);
  return { number, text: out === piece ? null : out };
}
