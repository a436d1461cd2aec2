import { Transform } from 'node:stream';
import { refused } from './archive-refusal.ts';

export type ArchiveLimits = {
  /** Of all that comes out of it. */
  maxBytes: number;
  maxEntries: number;
  /** How many times its size it may unpack to, past the first `slackBytes`. */
  maxRatio: number;
  slackBytes: number;
};

export const usualLimits: Omit<ArchiveLimits, 'maxBytes'> = { maxEntries: 200_000, maxRatio: 100, slackBytes: 64 * 1024 * 1024 };

/** Bytes so far, before and after unpacking. */
export type Counter = { packed: number; unpacked: number };

export const countPacked = (counter: Counter) =>
  new Transform({
    transform(bytes: Buffer, _encoding, done) {
      counter.packed += bytes.length;
      done(null, bytes);
    },
  });

/** Stands between unpacker and reader, so that also what is no part of anything is counted. */
export const limitUnpacked = (counter: Counter, { maxBytes, maxRatio, slackBytes }: ArchiveLimits) =>
  new Transform({
    transform(bytes: Buffer, _encoding, done) {
      counter.unpacked += bytes.length;
      if (counter.unpacked > maxBytes) done(refused(`The backup unpacks to more than the ${maxBytes} bytes there is room for.`));
      else if (counter.unpacked > slackBytes + maxRatio * counter.packed) {
        done(refused(`The backup unpacks to more than ${maxRatio} times its size, which none of ours does.`));
      } else done(null, bytes);
    },
  });
