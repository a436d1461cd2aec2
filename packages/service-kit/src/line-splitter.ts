import { StringDecoder } from 'node:string_decoder';

export type LineSplitter = {
  /** Takes bytes as they arrive and calls back for every complete line, without its line break. */
  push(chunk: Buffer): void;
};

/**
 * Splits a byte stream into lines, in linear time however it is chunked. A line longer than `maxLength` (characters) calls
 * `onTooLong` once and ends the splitting, because what follows may not begin at a line.
 */
export function createLineSplitter(maxLength: number, onLine: (line: string) => void, onTooLong: () => void): LineSplitter {
  const decoder = new StringDecoder('utf8');
  let parts: string[] = [];
  let length = 0;
  let broken = false;

  const add = (text: string) => {
    parts.push(text);
    length += text.length;
    if (length > maxLength) {
      broken = true;
      parts = [];
      onTooLong();
    }
  };
  return {
    push(chunk) {
      if (broken) return;
      const text = decoder.write(chunk);
      let start = 0;
      for (let end = text.indexOf('\n'); end !== -1 && !broken; end = text.indexOf('\n', start)) {
        add(text.slice(start, end));
        if (broken) return;
        const line = parts.length === 1 ? parts[0]! : parts.join('');
        parts = [];
        length = 0;
        start = end + 1;
        if (line !== '') onLine(line);
      }
      if (start < text.length) add(text.slice(start));
    },
  };
}
