import { parentPort } from 'node:worker_threads';
import type { MaskedText, MaskOrder, MaskWay } from './mask-thread.ts';
import { createOutboundMask } from './outbound-mask.ts';
import { createRedactor, type Redactor } from './redactor.ts';

/**
 * Runs in a thread of its own (`mask-thread.ts`), with the same rules and the same known values as the process. Whatever fails
 * here ends the thread, and the text is masked by who has sent it.
 */
let masks = masksOf(createRedactor([]));

parentPort?.on('message', (order: MaskOrder) => {
  if ('values' in order) {
    masks = masksOf(createRedactor(order.values, order.linkHosts));
    return;
  }
  const masked = masks[order.way](order.text);
  const answer: MaskedText = { number: order.number, text: masked === order.text ? null : masked };
  parentPort?.postMessage(answer);
});

function masksOf(redactor: Redactor): Record<MaskWay, (text: string) => string> {
  return {
    private: redactor.text,
    public: redactor.forPublic.text,
    known: redactor.known,
    json: createOutboundMask(redactor.known).jsonText,
  };
}
