import type { Redactor } from '@svc/service-kit/redaction/redactor.ts';
import { createPace } from '@svc/service-kit/redaction/pace.ts';
import { createMaskedReply } from './masked-reply.ts';
import { createSilenceFilter } from './silence.ts';
import type { TurnSink } from './turn.ts';

/** More text than this that comes at once is masked in slices of this length. */
const sliceLength = 16_384;

/** The reply of one turn on its way to its callers, masked as it leaves. */
export interface ReplyStream {
  delta(text: string): void;
  /** Sends what is waiting now: before anything else of the turn is shown. */
  flush(): void;
  /** Ends a block of text. An engine that sends no deltas gives the whole block here. */
  segment(whole: string): void;
  /** The same; a promise when the text is long, and nothing else may come before it is settled. */
  longSegment(whole: string): void | Promise<void>;
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

  const pushWaiting = () => {
    if (waiting === '') return;
    masked.push(silence.push(waiting));
    waiting = '';
  };

  /** Nothing else of the reply may come until it is done. */
  let pushing: Promise<void> = Promise.resolve();

  const pushInSlices = async () => {
    const pace = createPace();
    const text = waiting;
    waiting = '';
    for (let at = 0; at < text.length; at += sliceLength) {
      masked.push(silence.push(text.slice(at, at + sliceLength)));
      if (pace.isDue()) await pace.pause();
    }
  };

  const reply = {
    delta(text: string): void {
      isOpen = true;
      if (waiting === '') process.nextTick(reply.flush);
      waiting += text;
    },

    flush(): void {
      if (waiting === '' || !isReadable(current)) return; // the end of the block throws what is wrong
      pushWaiting();
    },

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

    longSegment(whole: string): void | Promise<void> {
      if (!isOpen) reply.delta(whole);
      if (waiting.length <= sliceLength) return reply.segment('');
      current();
      pushing = pushInSlices();
      return pushing.then(() => reply.segment(''));
    },

    async finish(): Promise<void> {
      await pushing; // of a turn that was ended meanwhile
      if (isOpen) reply.segment('');
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
