import type { Redactor } from '@svc/service-kit/redaction/redactor.ts';
import { textInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import { createLongStream, type LongStream } from '@svc/service-kit/redaction/long-stream.ts';
import { andThen, type MaybeLater } from './maybe-later.ts';
import type { TurnSink } from './turn.ts';

/** Between two blocks of text of one reply. */
const blockBreak = '\n\n';
/** The end of a block that may be the beginning of a secret is held back until the next block, unless it is shorter than this. */
const shortestHeld = 4;

/**
 * The end of the previous block, which was pushed into the new stream as well. The stream returns it once more, unless it is
 * part of a secret. `unshown`: the part of it that is held back. `before`: all text before it, when the list of secrets changed
 * in the middle of the text.
 */
type Seam = { text: string; unshown?: string; before?: string };

/** The masked text of a reply. After a method that returns a promise, no other may be called until it settles. */
export interface MaskedReply {
  /** Adds text to the open block, or begins the next one. */
  push(text: string): MaybeLater<void>;
  /** Releases the whole block, except an end in which a secret may have begun. */
  endBlock(): MaybeLater<void>;
  /** Ends the reply and releases what was held back. Blocks were masked one by one, so they are checked once more together. */
  end(): MaybeLater<void>;
  /** The text that was shown. */
  text(): string;
  /** What the text is masked with. */
  redactor(): Redactor;
}

/**
 * Masks the text of a reply on its way to the sink, across its blocks: a secret may begin in one block and end in the next.
 * When a secret becomes known meanwhile, the rest is masked with it; text that was shown already is retracted and sent again
 * without it. The deltas since the last retraction always add up to `text()`.
 */
export function createMaskedReply(current: () => Redactor, sink: TurnSink): MaskedReply {
  let redactor = current();
  /** Masks the current block. Null between two blocks until the next one begins: most replies have only one. */
  let stream: LongStream | null = createLongStream(redactor);
  /** The shown end of the previous block: the next stream is given it first. */
  let lastTail = '';
  let raw = '';
  let blocks = 0;
  let isBetween = true;
  let seam: Seam | null = null;
  let given = '';
  const reply = createShownReply(sink);
  const { show, closeBlock } = reply;

  const restart = (text: string) => {
    [seam, given] = [null, ''];
    reply.restart(text);
  };

  /** Strips the end of the previous block from the stream's output, which returns it once more, or masked as a part of a secret. */
  const behindSeam = (text: string, isLast = false): string => {
    if (seam === null) return text;
    given += text;
    const same = sharedLength(given, seam.text);
    if (!isLast && same === given.length && same < seam.text.length) return '';
    const { unshown, before, text: expected } = seam;
    const said = given;
    [seam, given] = [null, ''];
    if (before !== undefined && same < expected.length) {
      restart(before + said);
      return '';
    }
    if (unshown !== undefined) {
      show(unshown.slice(0, same));
      closeBlock();
    }
    return said.slice(same);
  };

  /** Continues with the secrets known by now. @throws when they cannot be read. */
  const renew = (): MaybeLater<void> => {
    const next = current();
    if (next.edition === redactor.edition) return; // the same values are masked already
    redactor = next;
    stream = createLongStream(redactor);
    return andThen(stream.push(raw), adopt);
  };
  const adopt = (whole: string) => {
    const sent = reply.text();
    const shown = isBetween && sent !== '' ? sent + blockBreak : sent;
    const same = sharedLength(whole, shown);
    const isHeld = seam?.unshown !== undefined;
    given = '';
    if (!isHeld && same === shown.length) {
      seam = null;
      show(whole.slice(same));
    } else if (!isHeld && same === whole.length) seam = { text: shown.slice(same), before: whole };
    else {
      const isClosed = isBetween && whole.endsWith(blockBreak);
      restart(isClosed ? whole.slice(0, -blockBreak.length) : whole);
      if (isClosed) closeBlock();
    }
  };

  const pushText = (text: string): MaybeLater<void> => {
    if (text === '') return;
    if (stream === null) return andThen(openBlock(lastTail), () => pushText(text));
    isBetween = false;
    raw += text;
    return andThen(stream.push(text), (masked) => show(behindSeam(masked)));
  };

  const closeStream = (): MaybeLater<void> => {
    if (isBetween || stream === null) return;
    isBetween = true;
    blocks++;
    return andThen(stream.end(), goOnBehind);
  };
  /** Closes a block. A short rest is shown at once; a longer one is held back until the next block. */
  const goOnBehind = (rest: string): MaybeLater<void> => {
    const tail = behindSeam(rest, true);
    raw += blockBreak;
    if (tail.length >= shortestHeld) return openBlock(tail);
    show(tail);
    closeBlock();
    stream = null;
    lastTail = tail;
  };
  /** Opens the stream of the next block. */
  const openBlock = (tail: string): MaybeLater<void> => {
    stream = createLongStream(redactor);
    return andThen(stream.push(tail + blockBreak), (released) => join(tail, released));
  };
  const join = (tail: string, released: string) => {
    const sure = sharedLength(released, tail + blockBreak);
    const unsure = tail.slice(sure);
    const text = (tail + blockBreak).slice(sure);
    given = released.slice(sure);
    if (tail.length < shortestHeld) return void (seam = text === '' ? null : { text });
    const isHeld = unsure.length >= shortestHeld;
    show(isHeld ? tail.slice(0, sure) : tail);
    if (!isHeld) closeBlock();
    seam = text === '' ? null : isHeld ? { text, unshown: unsure } : { text };
  };

  const closeAll = (): MaybeLater<void> => (stream === null ? lookAtAll() : andThen(stream.end(), showLast));
  const showLast = (rest: string) => {
    show(behindSeam(rest, true));
    closeBlock();
    return lookAtAll();
  };
  const lookAtAll = (): MaybeLater<void> => {
    if (blocks >= 2) return andThen(textInSlices(redactor, raw.slice(0, -blockBreak.length)), correct);
  };
  const correct = (whole: string) => {
    if (withoutBreaks(whole) === withoutBreaks(reply.text())) return;
    restart(whole);
    closeBlock();
  };

  return {
    push: (text) => andThen(renew(), () => pushText(text)),
    endBlock: () => andThen(renew(), closeStream),
    end: () => andThen(renew(), closeAll),
    text: reply.text,
    redactor: () => redactor,
  };
}

type ShownReply = {
  /** Appends to the open block, or begins the next one. */
  show(text: string): void;
  closeBlock(): void;
  /** Retracts everything and begins again with this text. */
  restart(text: string): void;
  /** Everything shown since the last retraction. */
  text(): string;
};

/** Sends masked text to the sink in blocks, and remembers it. */
function createShownReply(sink: TurnSink): ShownReply {
  let sent = '';
  let block = '';

  const show = (text: string) => {
    if (text === '') return;
    const lead = block === '' && sent !== '' ? blockBreak : '';
    sent += lead + text;
    block += text;
    sink({ type: 'delta', text: lead + text });
  };
  return {
    show,
    closeBlock() {
      if (block !== '') sink({ type: 'segment', text: block });
      block = '';
    },
    restart(text) {
      if (sent !== '') sink({ type: 'retract' });
      [sent, block] = ['', ''];
      show(text);
    },
    text: () => sent,
  };
}

/** A masked secret that spans a break between blocks swallows the break. */
const withoutBreaks = (text: string): string => text.replaceAll('\n', '');

/** Length of the common beginning of two texts. */
function sharedLength(a: string, b: string): number {
  if (a.startsWith(b)) return b.length;
  if (b.startsWith(a)) return a.length;
  let at = 0;
  while (a[at] === b[at]) at++;
  return at;
}
