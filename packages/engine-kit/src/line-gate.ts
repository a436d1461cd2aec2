import { Transform } from 'node:stream';

const lineBreak = 0x0a;

/**
 * Passes a stream of lines on until one is longer than `maxLength` bytes: then it calls back once and drops the rest. For
 * readers that keep a line in memory whatever its length.
 */
export function createLineGate(maxLength: number, onTooLong: () => void): Transform {
  let length = 0;
  let isShut = false;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (isShut) return done();
      isShut = isTooLong(chunk);
      if (!isShut) return done(null, chunk);
      onTooLong();
      done();
    },
  });

  function isTooLong(chunk: Buffer): boolean {
    let start = 0;
    for (let end = chunk.indexOf(lineBreak); end !== -1; end = chunk.indexOf(lineBreak, start)) {
      if (length + end - start > maxLength) return true;
      length = 0;
      start = end + 1;
    }
    length += chunk.length - start;
    return length > maxLength;
  }
}
