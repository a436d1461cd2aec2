import { BlockLanes } from './block-lanes.ts';
import { EscapeDecoder } from './escape-decoder.ts';
import { LiteralWalker } from './literal-walker.ts';
import { MaskList } from './mask-list.ts';
import { MatchWalker } from './match-walker.ts';
import { placeholder } from './placeholder.ts';
import { quietUntil } from './quiet-text.ts';
import type { SecretMatcher } from './secret-matcher.ts';
import { block, opener, plain, unitClasses } from './unit-classes.ts';

export type StreamRedactor = {
  /** Takes the next piece and gives back what may leave: no part of a secret is ever in it. */
  push(text: string): string;
  /** The rest, once nothing more comes. The redactor may be used for another text then. */
  end(): string;
};

/**
 * Masks known values in a stream, however it is cut: the pieces given back add up to the redacted whole. Text is held
 * only as long as a known value could still begin in it. Text in which none can begin is passed over; the rest goes through
 * the decoder of escapes, and what comes out of it to the automaton and to the decoders of blocks.
 */
export function createStreamRedactor(matcher: SecretMatcher): StreamRedactor {
  if (matcher.isEmpty) return { push: (text) => text, end: () => '' };
  return new KnownStream(matcher);
}

class KnownStream implements StreamRedactor {
  readonly #matcher: SecretMatcher;
  readonly #masks = new MaskList();
  readonly #walker: MatchWalker;
  readonly #blocks: BlockLanes;
  /** For a block right behind what begins an escape: its first characters may have been taken for the escape's. */
  readonly #rawBlocks: BlockLanes;
  #isBehindOpener = false;
  /** Over the text as it is: what stands before a value may read with it as an escape. */
  readonly #literal: LiteralWalker;
  readonly #decoder: EscapeDecoder;
  #held = '';
  /** Where in the source the held text begins, and where the next piece does. */
  #heldAt = 0;
  #at = 0;
  #isQuiet = true;

  constructor(matcher: SecretMatcher) {
    this.#matcher = matcher;
    const walker = new MatchWalker(matcher, this.#masks);
    const blocks = new BlockLanes(matcher, this.#masks);
    this.#walker = walker;
    this.#blocks = blocks;
    this.#rawBlocks = new BlockLanes(matcher, this.#masks);
    this.#literal = new LiteralWalker(matcher.literal, this.#masks);
    this.#decoder = new EscapeDecoder({
      take(unit, from, to, isBehindEscape) {
        walker.take(unit, from, to, isBehindEscape);
        blocks.take(unit, from, to);
      },
    });
  }

  push(text: string): string {
    this.#held = this.#held === '' ? text : this.#held + text;
    for (let i = 0; i < text.length;) i = this.#isQuiet ? this.#passOver(text, i) : this.#read(text, i);
    this.#at += text.length;
    return this.#release(Math.min(this.#at, this.#heldFrom()));
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
    const rest = this.#release(this.#at);
    this.#decoder.reset();
    this.#walker.restart(0);
    this.#literal.restart();
    this.#masks.clear();
    this.#held = '';
    this.#heldAt = this.#at = 0;
    this.#isQuiet = true;
    return rest;
  }

  #passOver(text: string, from: number): number {
    const until = quietUntil(text, from, this.#matcher.starts);
    if (until < text.length) {
      this.#isQuiet = false;
      this.#walker.restart(this.#at + until);
      this.#literal.restart();
    }
    return until;
  }

  /** Up to where nothing is open any more. */
  #read(text: string, from: number): number {
    const decoder = this.#decoder;
    const walker = this.#walker;
    const blocks = this.#blocks;
    const literal = this.#literal;
    for (let i = from; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      const at = this.#at + i;
      const kind = unitClasses[unit]!;
      if (kind > block || !decoder.isClear) decoder.push(unit, at, at + 1);
      else {
        walker.take(unit, at, at + 1, false);
        blocks.take(unit, at, at + 1);
      }
      literal.take(unit, at);
      if (this.#isBehindOpener || kind === opener) this.#takeRaw(unit, kind, at);
      if (kind === plain && walker.isIdle && blocks.isIdle && decoder.isIdle && literal.isIdle) {
        this.#isQuiet = true;
        return i + 1;
      }
    }
    return text.length;
  }

  #takeRaw(unit: number, kind: number, at: number): void {
    this.#isBehindOpener = kind !== plain;
    if (kind === block) this.#rawBlocks.take(unit, at, at + 1);
    else if (kind === plain || kind === opener) this.#rawBlocks.end();
  }

  #release(until: number): string {
    let out = '';
    let at = this.#heldAt;
    for (const mask of this.#masks.takeUntil(until)) {
      out += this.#held.slice(at - this.#heldAt, mask.from - this.#heldAt) + placeholder;
      at = mask.to;
    }
    // A mask that reaches past this point may still grow: nothing from its start on leaves yet.
    const stop = Math.max(at, Math.min(until, this.#masks.from));
    out += this.#held.slice(at - this.#heldAt, stop - this.#heldAt);
    this.#held = this.#held.slice(stop - this.#heldAt);
    this.#heldAt = stop;
    return out;
  }
}
