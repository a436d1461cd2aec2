import { Tokenizer } from 'marked';

/** So many units of a text may be read for the ends of its emphases, together. Some 5 ms; what people and models write needs a tenth. */
const mostRead = 400_000;

/**
 * The parser looks for the end of each `*`, `_` and `~` up to the end of the paragraph, which takes time in the square of its length.
 * Once that is too much, these signs stand for themselves.
 */
export class BoundedTokenizer extends Tokenizer {
  #left = mostRead;

  override emStrong(...args: Parameters<Tokenizer['emStrong']>): ReturnType<Tokenizer['emStrong']> {
    return this.#mayRead(args[0]) ? super.emStrong(...args) : undefined;
  }

  override del(...args: Parameters<Tokenizer['del']>): ReturnType<Tokenizer['del']> {
    return this.#mayRead(args[0]) ? super.del(...args) : undefined;
  }

  /** The name of a mailbox has 64 characters; what could be one is read to its end at each of its own. */
  override url(src: string): ReturnType<Tokenizer['url']> {
    return longRun.test(src) ? undefined : super.url(src);
  }

  /** Called at every sign of a text, and asked for few. */
  #mayRead(src: string): boolean {
    if (!isDelimiter(src.charCodeAt(0))) return false;
    this.#left -= src.length;
    return this.#left >= 0;
  }
}

const longRun = /^[\w.+-]{256}/;

const isDelimiter = (unit: number): boolean => unit === 42 || unit === 95 || unit === 126;
