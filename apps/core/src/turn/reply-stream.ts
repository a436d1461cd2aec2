import type { Redactor } from '@svc/service-kit/redaction/redactor.ts';
import { createMaskedReply } from './masked-reply.ts';
import { createSilenceFilter } from './silence.ts';
import type { TurnSink } from './turn.ts';

/**
 * The way of a reply's text from the engine to the sink: the marker of silence is taken out, then secrets are masked,
 * then it leaves. Deltas of one turn of the event loop leave as one; what was sent always adds up to `text()`.
 * `current` gives the redactor of the moment, and throws when there is none: until there is, nothing leaves.
 */
export function createReplyStream(current: () => Redactor, sink: TurnSink) {
  const masked = createMaskedReply(current, sink);
  let silence = createSilenceFilter();
  let waiting = '';
  let isOpen = false;
  let silent = false;

  const pushWaiting = () => {
    if (waiting === '') return;
    masked.push(silence.push(waiting));
    waiting = '';
  };

  const reply = {
    delta(text: string): void {
      isOpen = true;
      if (waiting === '') process.nextTick(reply.flush);
      waiting += text;
    },

    /** Sends what is waiting now: before anything else of the turn is shown. */
    flush(): void {
      if (waiting === '' || !isReadable(current)) return; // the end of the block throws what is wrong
      pushWaiting();
    },

    /** Ends a block of text. An engine that sends no deltas gives the whole block here. */
    segment(whole: string): void {
      if (!isOpen) reply.delta(whole);
      current();
      pushWaiting();
      const rest = silence.end();
      masked.push(rest.text);
      masked.endBlock();
      silent = rest.silent;
      silence = createSilenceFilter();
      isOpen = false;
    },

    /** Ends a block that is still open, when the engine is done. */
    async finish(): Promise<void> {
      if (isOpen) reply.segment('');
      await masked.end();
    },

    /** Everything that was sent, the reply. */
    text: () => masked.text(),
    redactor: () => masked.redactor(),
    /** True when the last block ended with the marker of silence. */
    isSilent: () => silent,
  };
  return reply;
}

export type ReplyStream = ReturnType<typeof createReplyStream>;

/** Whether the list of secrets can be read; /health says what is wrong with it. */
function isReadable(current: () => Redactor): boolean {
  try {
    current();
    return true;
  } catch {
    return false;
  }
}
