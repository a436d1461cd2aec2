import type { Redactor } from '@svc/service-kit/redaction/redactor.ts';
import { createMaskedReply } from './masked-reply.ts';
import { andThen, type MaybeLater } from './maybe-later.ts';
import { createSilenceFilter } from './silence.ts';
import type { TurnSink } from './turn.ts';

/** The reply of one turn on its way to its callers, masked as it leaves. What takes a while is a promise; all is done in its order. */
export interface ReplyStream {
  /** A promise while what came before is still being masked. */
  delta(text: string): MaybeLater<void>;
  /** Sends what is waiting now: before anything else of the turn is shown. */
  flush(): MaybeLater<void>;
  /** Ends a block of text. An engine that sends no deltas gives the whole block here. */
  segment(whole: string): MaybeLater<void>;
  /** Ends a block that is still open, when the engine is done. */
  finish(): Promise<void>;
  /** Everything that was sent, the reply. */
  text(): string;
  redactor(): Redactor;
  /** True when the last block ended with the marker of silence. */
  isSilent(): boolean;
}

/**
 * The way of a reply's text from the engine to the sink: the marker of silence is taken out, then secrets are masked,
 * then it leaves. Deltas of one turn of the event loop leave as one; what was sent always adds up to `text()`.
 * `current` gives the redactor of the moment, and throws when there is none: until there is, nothing leaves.
 */
export function createReplyStream(current: () => Redactor, sink: TurnSink): ReplyStream {
  const masked = createMaskedReply(current, sink);
  let silence = createSilenceFilter();
  let waiting = '';
  let isOpen = false;
  let silent = false;

  /** What is being masked; a fault stays, because nothing may come after it. */
  let last: Promise<void> | null = null;

  /** At once, when nothing comes before it. */
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
      // The end of the block throws what is wrong.
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
      await last; // of a turn that was ended meanwhile
      if (isOpen || waiting !== '') await reply.segment('');
      await masked.end();
    },

    text: () => masked.text(),
    redactor: () => masked.redactor(),
    isSilent: () => silent,
  };
  return reply;
}

/** Whether the list of secrets can be read; /health says what is wrong with it. */
function isReadable(current: () => Redactor): boolean {
  try {
    current();
    return true;
  } catch {
    return false;
  }
}
