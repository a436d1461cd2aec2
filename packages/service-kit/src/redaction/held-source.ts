import { MaskList } from './mask-list.ts';
import { placeholder } from './placeholder.ts';

/** The source text that a stream still holds back, and the places in it that are to be masked. */
export class HeldSource {
  readonly masks = new MaskList();
  #text = '';
  #from = 0;
  #end = 0;

  /** Where the next piece of text will begin. */
  get end(): number {
    return this.#end;
  }

  append(text: string): void {
    this.#text = this.#text === '' ? text : this.#text + text;
    this.#end += text.length;
  }

  /** Returns the text before a place, masked. */
  release(until: number): string {
    let out = '';
    let at = this.#from;
    for (const mask of this.masks.takeUntil(until)) {
      out += this.#text.slice(at - this.#from, mask.from - this.#from) + placeholder;
      at = mask.to;
    }
    // A mask that reaches past this point may still grow, so text from its beginning on is held back.
    const stop = Math.max(at, Math.min(until, this.masks.from));
    out += this.#text.slice(at - this.#from, stop - this.#from);
    this.#text = this.#text.slice(stop - this.#from);
    this.#from = stop;
    return out;
  }

  reset(): void {
    this.masks.clear();
    this.#text = '';
    this.#from = this.#end = 0;
  }
}
