import { BlockLanes } from './block-lanes.ts';
import { EscapeDecoder } from './escape-decoder.ts';
import { LiteralWalker } from './literal-walker.ts';
import { HeldSource } from './held-source.ts';
import { MatchWalker } from './match-walker.ts';
import { quietUntil, type Looked } from './quiet-text.ts';
import type { SecretMatcher } from './secret-matcher.ts';
import { createSpacedStream } from './spaced-values.ts';
import { hasBit, hashOf, window } from './start-filter.ts';
import { block, opener, plain, unitClasses } from './unit-classes.ts';

export type StreamRedactor = {
  /** Takes the next piece and returns what may be sent, which never contains part of a secret. */
  push(text: string): string;
  /** Ends the text and returns the rest. The redactor may then be used for another text. */
  end(): string;
};

/**
 * Masks known values in a stream, however it is cut: the returned pieces add up to the redacted whole. Text is held back
 * only while a known value may still begin in it. Text in which none can begin is skipped; the rest goes through the decoder
 * of escapes, and its output to the automaton and to the decoders of blocks.
 */
export function createStreamRedactor(matcher: SecretMatcher): StreamRedactor {
  if (matcher.isEmpty) return { push: (text) => text, end: () => '' };
  const known = new KnownStream(matcher);
  return matcher.spaced === null ? known : chained(known, createSpacedStream(matcher.spaced));
}

/** The output of the first goes through the second. */
export const chained = (first: StreamRedactor, second: StreamRedactor): StreamRedactor => ({
  push: (text) => second.push(first.push(text)),
  end: () => second.push(first.end()) + second.end(),
});

/** Used by the stream that is scanning at the moment. */
const looked: Looked = { until: 0 };

class KnownStream implements StreamRedactor {
  readonly #matcher: SecretMatcher;
  readonly #source = new HeldSource();
  readonly #walker: MatchWalker;
  readonly #blocks: BlockLanes;
  /** For a block right after the beginning of an escape: its first characters may have been read as part of the escape. */
  readonly #rawBlocks: BlockLanes;
  #isBehindOpener = false;
  /** For the undecoded text: what precedes a value may form an escape with it. */
  readonly #literal: LiteralWalker;
  readonly #decoder: EscapeDecoder;
  #isQuiet = true;
  /** Up to where the text was scanned before it is read. It is not skipped again before, which would be once for each unit. */
  #readUntil = 0;

  constructor(matcher: SecretMatcher) {
    this.#matcher = matcher;
    const walker = new MatchWalker(matcher, this.#source.masks);
    const blocks = new BlockLanes(matcher, this.#source.masks);
    this.#walker = walker;
    this.#blocks = blocks;
    this.#rawBlocks = new BlockLanes(matcher, this.#source.masks);
    this.#literal = new LiteralWalker(matcher.literal, this.#source.masks);
    this.#decoder = new EscapeDecoder({
      take(unit, from, to, isBehindEscape) {
        walker.take(unit, from, to, isBehindEscape);
        blocks.take(unit, from, to);
      },
    });
  }

  push(text: string): string {
    const at = this.#source.end;
    this.#source.append(text);
    for (let i = 0; i < text.length;) i = this.#isQuiet ? this.#passOver(text, i, at) : this.#read(text, i, at);
    return this.#source.release(Math.min(this.#source.end, this.#heldFrom()));
  }

  #heldFrom(): number {
    return Math.min(
      this.#literal.heldFrom,
      this.#walker.heldFrom,
      this.#decoder.heldFrom,
      this.#blocks.heldFrom,
      this.#rawBlocks.heldFrom,
    );
  }

  end(): string {
    this.#decoder.flush();
    this.#blocks.end();
    this.#rawBlocks.end();
    this.#isBehindOpener = false;
    const rest = this.#source.release(this.#source.end);
    this.#decoder.reset();
    this.#walker.restart(0);
    this.#literal.restart();
    this.#source.reset();
    this.#readUntil = 0;
    this.#isQuiet = true;
    return rest;
  }

  #passOver(text: string, from: number, textAt: number): number {
    const until = quietUntil(text, from, this.#matcher.starts, looked);
    this.#readUntil = textAt + looked.until;
    if (until < text.length) {
      this.#isQuiet = false;
      this.#walker.restart(textAt + until);
      this.#literal.restart();
    }
    return until;
  }

  /** Reads to where nothing is open any more. */
  #read(text: string, from: number, textAt: number): number {
    const decoder = this.#decoder;
    const walker = this.#walker;
    const blocks = this.#blocks;
    const literal = this.#literal;
    for (let i = from; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      const at = textAt + i;
      const kind = unitClasses[unit]!;
      if (kind === block && walker.isIdle && literal.isIdle && decoder.isClear && !this.#isBehindOpener) {
        i = this.#readBlock(text, i, textAt) - 1;
        continue;
      }
      if (kind > block || !decoder.isClear) decoder.push(unit, at, at + 1);
      else {
        walker.take(unit, at, at + 1, false);
        blocks.take(unit, at, at + 1);
      }
      literal.take(unit, at);
      if (this.#isBehindOpener || kind === opener) this.#takeRaw(unit, kind, at);
      if (kind === plain && at >= this.#readUntil && walker.isIdle && blocks.isIdle && decoder.isIdle && literal.isIdle) {
        this.#isQuiet = true;
        return i + 1;
      }
    }
    return text.length;
  }

  /**
   * Reads to the end of a block, or to just after four units with which a pattern begins. No pattern begins before the last of
   * them, so the others are only decoded as part of the block.
   */
  #readBlock(text: string, from: number, textAt: number): number {
    const { fours } = this.#matcher.starts;
    let units = 0;
    let to = from;
    let begins = false;
    for (; to < text.length && !begins; to++) {
      const unit = text.charCodeAt(to);
      if (unitClasses[unit] !== block) break;
      units = (units << 8) ^ unit;
      begins = to - from >= window - 1 && hasBit(fours, hashOf(units));
    }
    this.#blocks.takeRun(text, from, to, textAt);
    for (let i = Math.max(from, to - window); i < to; i++) {
      this.#walker.take(text.charCodeAt(i), textAt + i, textAt + i + 1);
      this.#literal.take(text.charCodeAt(i), textAt + i);
    }
    return to;
  }

  #takeRaw(unit: number, kind: number, at: number): void {
    this.#isBehindOpener = kind !== plain;
    if (kind === block) this.#rawBlocks.take(unit, at, at + 1);
    else if (kind === plain || kind === opener) this.#rawBlocks.end();
  }
}
