import { Transform } from 'node:stream';

const lineBreak = 0x0a;

/** A program that writes faster than this must wait, because reading it must not block everything else. */
const pace = { bytes: 1024 * 1024, perMs: 25 };

/**
 * Passes on a program's output at a limited rate. Once a line is longer than `maxLength` bytes, it calls back once and drops the rest. For
 * readers that hold a whole line in memory, whatever its length.
 */
export function createLineGate(maxLength: number, onTooLong: () => void): Transform {
  let length = 0;
  let isShut = false;
  let passed = 0;
  let since = performance.now();

  /** How long the next chunk must wait, ms. */
  const pauseAfter = (bytes: number): number => {
    const now = performance.now();
    if (now - since >= pace.perMs) [passed, since] = [0, now];
    passed += bytes;
    return passed < pace.bytes ? 0 : Math.max(1, since + pace.perMs - now);
  };
  const isTooLong = (chunk: Buffer): boolean => {
    let start = 0;
    for (let end = chunk.indexOf(lineBreak); end !== -1; end = chunk.indexOf(lineBreak, start)) {
      if (length + end - start > maxLength) return true;
      length = 0;
      start = end + 1;
    }
    length += chunk.length - start;
    return length > maxLength;
  };

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (isShut) return done();
      isShut = isTooLong(chunk);
      if (isShut) {
        onTooLong();
        return done();
      }
      this.push(chunk);
      const pauseMs = pauseAfter(chunk.length);
      if (pauseMs === 0) done();
      else setTimeout(done, pauseMs);
    },
  });
}
