import type { Redactor } from '@svc/service-kit/redaction/redactor.ts';
import { textInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import { createLongStream } from '@svc/service-kit/redaction/long-stream.ts';
import { settle, type MaybeLater, type TextSteps } from './maybe-later.ts';
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

/**
 * The text of a reply on its way to the sink, masked over all of its blocks: a secret that begins in one block and ends in the
 * next is one. When a secret becomes known meanwhile, the rest is masked with it; what was shown is withdrawn and said again
 * without it. The deltas since the last withdrawal always add up to `text()`. Of a long reply things take a while: nothing else may
 * be asked for before a promise is settled.
 */
export function createMaskedReply(current: () => Redactor, sink: TurnSink) {
  let redactor = current();
  let stream = createLongStream(redactor);
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
  function* renew(): TextSteps<void> {
    const next = current();
    if (next.edition === redactor.edition) return; // the same values are masked already
    redactor = next;
    stream = createLongStream(redactor);
    const whole = yield stream.push(raw);
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
  }

  function* push(text: string): TextSteps<void> {
    yield* renew();
    if (text === '') return;
    isBetween = false;
    raw += text;
    show(behindSeam(yield stream.push(text)));
  }

  function* endBlock(): TextSteps<void> {
    yield* renew();
    if (isBetween) return;
    isBetween = true;
    blocks++;
    const tail = behindSeam(yield stream.end(), true);
    raw += blockBreak;
    stream = createLongStream(redactor);
    const released = yield stream.push(tail + blockBreak);
    const sure = sharedLength(released, tail + blockBreak);
    const unsure = tail.slice(sure);
    const isHeld = unsure.length >= shortestHeld;
    show(isHeld ? tail.slice(0, sure) : tail);
    if (!isHeld) closeBlock();
    const text = (tail + blockBreak).slice(sure);
    seam = text === '' ? null : isHeld ? { text, unshown: unsure } : { text };
    given = released.slice(sure);
  }

  function* end(): TextSteps<void> {
    yield* renew();
    show(behindSeam(yield stream.end(), true));
    closeBlock();
    if (blocks < 2) return;
    const whole = yield textInSlices(redactor, raw.slice(0, -blockBreak.length));
    if (withoutBreaks(whole) === withoutBreaks(sent)) return;
    restart(whole);
    closeBlock();
  }

  return {
    push: (text: string): MaybeLater<void> => settle(push(text)),

    /** All of the block leaves, but an end in which a secret may have begun. */
    endBlock: (): MaybeLater<void> => settle(endBlock()),

    /** Nothing more comes: what was held back leaves. Blocks were masked one by one, so all of them are looked at together. */
    end: (): MaybeLater<void> => settle(end()),

    text: () => sent,
    /** What the text is masked with. */
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
