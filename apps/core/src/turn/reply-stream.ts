import type { Redactor } from '@svc/service-kit/redaction/redactor.ts';
import { createMaskedReply } from './masked-reply.ts';
import { andThen, type MaybeLater } from './maybe-later.ts';
import { createSilenceFilter } from './silence.ts';
import type { TurnSink } from './turn.ts';

/** The reply of one turn on its way to its callers, masked on the way. Slow steps return a promise; all steps run in order. */
export interface ReplyStream {
  /** A promise while earlier text is still being masked. */
  delta(text: string): MaybeLater<void>;
  /** Sends the waiting text now. To be called before anything else of the turn is shown. */
  flush(): MaybeLater<void>;
  /** Ends a block of text. An engine that sends no deltas gives the whole block here. */
  segment(whole: string): MaybeLater<void>;
  /** Ends a block that is still open, when the engine is done. */
  finish(): Promise<void>;
  /** The reply: everything that was sent. */
  text(): string;
  redactor(): Redactor;
  /** True when the last block ended with the marker of silence. */
  isSilent(): boolean;
}

/**
 * Passes a reply's text from the engine to the sink: the marker of silence is removed, then secrets are masked. Deltas of one
 * turn of the event loop are sent as one; what was sent always adds up to `text()`.
 * `current` returns the current redactor, and throws when the secrets cannot be read: until they can, nothing is sent.
 */
export function createReplyStream(current: () => Redactor, sink: TurnSink): ReplyStream {
  const masked = createMaskedReply(current, sink);
  let silence = createSilenceFilter();
  let waiting = '';
  let isOpen = false;
  let silent = false;

  /** The step that is running. A rejected one stays, because nothing may follow it. */
  let last: Promise<void> | null = null;

  /** Runs the work after the steps before it: at once when there are none. */
  const inOrder = (work: () => MaybeLater<void>): MaybeLater<void> => {
    const working = last === null ? work() : last.then(work);
    if (!(working instanceof Promise)) return;
    last = working;
    working.then(
      () => (last = last === working ? null : last),
      () => undefined, // the end of the reply throws it
    );
    return working;
  };

  const pushWaiting = (): MaybeLater<void> => {
    const text = waiting;
    waiting = '';
    if (text !== '') return masked.push(silence.push(text));
  };

  const endBlock = (): MaybeLater<void> => {
    const rest = silence.end();
    silence = createSilenceFilter();
    return andThen(masked.push(rest.text), () => {
      silent = rest.silent;
      return masked.endBlock();
    });
  };

  const reply = {
    delta(text: string): MaybeLater<void> {
      isOpen = true;
      if (waiting === '') process.nextTick(reply.flush);
      waiting += text;
      return last ?? undefined;
    },

    flush(): MaybeLater<void> {
      if (waiting === '') return last ?? undefined;
      // The end of the block throws the fault.
      return inOrder(() => (isReadable(current) ? pushWaiting() : undefined));
    },

    segment(whole: string): MaybeLater<void> {
      if (!isOpen) waiting += whole;
      isOpen = false;
      return inOrder(() => {
        current();
        return andThen(pushWaiting(), endBlock);
      });
    },

    async finish(): Promise<void> {
      await last; // an aborted turn may still be masking
      if (isOpen || waiting !== '') await reply.segment('');
      await masked.end();
    },

    text: () => masked.text(),
    redactor: () => masked.redactor(),
    isSilent: () => silent,
  };
  return reply;
}

/** Whether the list of secrets can be read; /health reports why not. */
function isReadable(current: () => Redactor): boolean {
  try {
    current();
    return true;
  } catch {
    return false;
  }
}
