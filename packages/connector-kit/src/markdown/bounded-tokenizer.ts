import { Tokenizer } from 'marked';

/**
 * Maximum number of units that may be read, over a whole text, in search of the ends of emphases. This takes about 5 ms; normal texts need
 * a tenth of it.
 */
const mostRead = 400_000;

/**
 * The parser looks for the end of each `*`, `_` and `~` up to the end of the paragraph, which takes time quadratic in its length. Once the
 * limit is reached, these signs are treated as plain characters.
 */
export class BoundedTokenizer extends Tokenizer {
  #left = mostRead;

  override emStrong(...args: Parameters<Tokenizer['emStrong']>): ReturnType<Tokenizer['emStrong']> {
    return this.#mayRead(args[0]) ? super.emStrong(...args) : undefined;
  }

  override del(...args: Parameters<Tokenizer['del']>): ReturnType<Tokenizer['del']> {
    return this.#mayRead(args[0]) ? super.del(...args) : undefined;
  }

  /**
   * The local part of an address has at most 64 characters, but the parser would read a longer run to its end from each of its characters.
   */
  override url(src: string): ReturnType<Tokenizer['url']> {
    return longRun.test(src) ? undefined : super.url(src);
  }

  /** Called at every sign of a text, but rarely has to count. */
  #mayRead(src: string): boolean {
    if (!isDelimiter(src.charCodeAt(0))) return false;
    this.#left -= src.length;
    return this.#left >= 0;
  }
}

const longRun = /^[\w.+-]{256}/;

const isDelimiter = (unit: number): boolean => unit === 42 || unit === 95 || unit === 126;
