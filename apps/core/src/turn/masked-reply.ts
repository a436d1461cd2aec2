import type { Redactor } from '@svc/service-kit/redaction/redactor.ts';
import { textInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import { createLongStream, type LongStream } from '@svc/service-kit/redaction/long-stream.ts';
import { andThen, type MaybeLater } from './maybe-later.ts';
import type { TurnSink } from './turn.ts';

/** Between two blocks of text of one reply. */
const blockBreak = '\n\n';
/** The end of a block that may be the beginning of a secret waits for the next block, unless it is shorter than this. */
const shortestHeld = 4;

/**
 * What the stream will give once more, unless it is a part of a secret: the end of the block before. `unshown`: what of it
 * waits. `before`: all that stands before it, when the secrets became others in the middle of the text.
 */
type Seam = { text: string; unshown?: string; before?: string };

/** The text of a reply, as far as it may be seen. What gives a promise takes a while: nothing else may be asked for before that is settled. */
export interface MaskedReply {
  /** More text of the block that is open, or of the next one. */
  push(text: string): MaybeLater<void>;
  /** All of the block leaves, but an end in which a secret may have begun. */
  endBlock(): MaybeLater<void>;
  /** Nothing more comes: what was held back leaves. Blocks were masked one by one, so all of them are looked at together. */
  end(): MaybeLater<void>;
  /** What was shown. */
  text(): string;
  /** What the text is masked with. */
  redactor(): Redactor;
}

/**
 * The text of a reply on its way to the sink, masked over all of its blocks: a secret that begins in one block and ends in the
 * next is one. When a secret becomes known meanwhile, the rest is masked with it; what was shown is withdrawn and said again
 * without it. The deltas since the last withdrawal always add up to `text()`.
 */
export function createMaskedReply(current: () => Redactor, sink: TurnSink): MaskedReply {
  let redactor = current();
  /** Of the block that comes; null between two of them, until there is a next one: most replies have one. */
  let stream: LongStream | null = createLongStream(redactor);
  /** What that stream is to be given first: the end of the block before, which was shown. */
  let lastTail = '';
  let raw = '';
  let sent = '';
  let block = '';
  let blocks = 0;
  let isBetween = true;
  let seam: Seam | null = null;
  let given = '';

  const show = (text: string) => {
    if (text === '') return;
    const lead = block === '' && sent !== '' ? blockBreak : '';
    sent += lead + text;
    block += text;
    sink({ type: 'delta', text: lead + text });
  };
  const closeBlock = () => {
    if (block !== '') sink({ type: 'segment', text: block });
    block = '';
  };
  const restart = (text: string) => {
    if (sent !== '') sink({ type: 'retract' });
    [sent, block, seam, given] = ['', '', null, ''];
    show(text);
  };

  /** What is new in what the stream gives: the end of the block before comes once more, or as a part of a secret. */
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

  /** Goes on with the secrets that are known by now. @throws when they cannot be read. */
  const renew = (): MaybeLater<void> => {
    const next = current();
    if (next.edition === redactor.edition) return; // the same values are masked already
    redactor = next;
    stream = createLongStream(redactor);
    return andThen(stream.push(raw), adopt);
  };
  const adopt = (whole: string) => {
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
  /** What little is left of a block is shown, whatever comes next. */
  const goOnBehind = (rest: string): MaybeLater<void> => {
    const tail = behindSeam(rest, true);
    raw += blockBreak;
    if (tail.length >= shortestHeld) return openBlock(tail);
    show(tail);
    closeBlock();
    stream = null;
    lastTail = tail;
  };
  /** A stream for what follows the end of a block. */
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
    if (withoutBreaks(whole) === withoutBreaks(sent)) return;
    restart(whole);
    closeBlock();
  };

  return {
    push: (text) => andThen(renew(), () => pushText(text)),
    endBlock: () => andThen(renew(), closeStream),
    end: () => andThen(renew(), closeAll),
    text: () => sent,
    redactor: () => redactor,
  };
}

/** A secret over a break between blocks takes the break with it. */
const withoutBreaks = (text: string): string => text.replaceAll('\n', '');

/** How far two texts are the same. */
function sharedLength(a: string, b: string): number {
  if (a.startsWith(b)) return b.length;
  if (b.startsWith(a)) return a.length;
  let at = 0;
  while (a[at] === b[at]) at++;
  return at;
}
