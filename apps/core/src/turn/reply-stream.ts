import type { Redactor } from '@svc/service-kit/redaction/redactor.ts';
import { createSilenceFilter } from './silence.ts';
import type { TurnSink } from './turn.ts';

/** Between two blocks of text of one reply. */
const blockBreak = '\n\n';

/**
 * The way of a reply's text from the engine to the sink: the marker of silence is taken out, then secrets are masked,
 * then it leaves. Deltas of one turn of the event loop leave as one; what was sent always adds up to `text()`.
 */
export function createReplyStream(redactor: Redactor, sink: TurnSink) {
  let silence = createSilenceFilter();
  let masked = redactor.stream();
  let waiting = '';
  let sent = '';
  let block = '';
  let isOpen = false;
  let silent = false;

  const send = (text: string) => {
    if (text === '') return;
    const lead = block === '' && sent !== '' ? blockBreak : '';
    sent += lead + text;
    block += text;
    sink({ type: 'delta', text: lead + text });
  };

  const reply = {
    delta(text: string): void {
      isOpen = true;
      if (waiting === '') process.nextTick(reply.flush);
      waiting += text;
    },

    /** Sends what is waiting now: before anything else of the turn is shown. */
    flush(): void {
      if (waiting === '') return;
      const text = waiting;
      waiting = '';
      send(masked.push(silence.push(text)));
    },

    /** Ends a block of text. An engine that sends no deltas gives the whole block here. */
    segment(whole: string): void {
      if (!isOpen) reply.delta(whole);
      reply.flush();
      const rest = silence.end();
      send(masked.push(rest.text) + masked.end());
      silent = rest.silent;
      silence = createSilenceFilter();
      masked = redactor.stream();
      isOpen = false;
      if (block !== '') sink({ type: 'segment', text: block });
      block = '';
    },

    /** Ends a block that is still open, when the engine is done. */
    finish(): void {
      if (isOpen) reply.segment('');
    },

    /** Everything that was sent, the reply. */
    text: () => sent,
    /** True when the last block ended with the marker of silence. */
    isSilent: () => silent,
  };
  return reply;
}

export type ReplyStream = ReturnType<typeof createReplyStream>;
