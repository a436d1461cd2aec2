import { copyFileSync, readFileSync, statSync } from 'node:fs';
import { endianness } from 'node:os';
import { setAsideName } from './set-aside.ts';

const headerBytes = 32;
const frameHeaderBytes = 24;
/** The last bit says in which order the words of the checksum are read. */
const magic = 0x377f0682;

/**
 * Whether a write-ahead log holds commits that SQLite passes over, because something before them does not fit its checksum. It
 * takes such a place for the end that a kill has cut off, and says nothing. What a kill really cut off has no commit behind it.
 */
export function isLogDamaged(log: Buffer): boolean {
  if (log.length <= headerBytes) return false;
  const isLittle = log.readUInt32BE(0) === magic;
  const pageBytes = log.readUInt32BE(8) || 65_536;
  let sum = checksum(log.subarray(0, 24), [0, 0], isLittle);
  if ((!isLittle && log.readUInt32BE(0) !== magic + 1) || !fits(sum, log, 24)) return true;
  const step = frameHeaderBytes + pageBytes;
  let isWhole = true;
  for (let at = headerBytes; at + step <= log.length; at += step) {
    // Frames of an earlier round of the log have other salts.
    const isCurrent = log.compare(log, 16, 24, at + 8, at + 16) === 0;
    if (isWhole && isCurrent) {
      sum = checksum(log.subarray(at + frameHeaderBytes, at + step), checksum(log.subarray(at, at + 8), sum, isLittle), isLittle);
      isWhole = fits(sum, log, at + 16);
    } else {
      isWhole = false;
      const endsCommit = log.readUInt32BE(at + 4) !== 0;
      if (isCurrent && endsCommit) return true;
    }
  }
  return false;
}

type Sum = readonly [number, number];

const fits = (sum: Sum, log: Buffer, at: number): boolean =>
  log.readUInt32BE(at) === sum[0] && log.readUInt32BE(at + 4) === sum[1];

const isLittleMachine = endianness() === 'LE';

/** Over pairs of words. All in 32 bits with a sign, which is what is fast before it is compiled: a log is read once. */
function checksum(bytes: Buffer, [first, second]: Sum, isLittle: boolean): Sum {
  const words = wordsOf(bytes, isLittle);
  let a = first | 0;
  let b = second | 0;
  for (let at = 0; at < words.length; at += 2) {
    a = (a + (words[at] as number) + b) | 0;
    b = (b + (words[at + 1] as number) + a) | 0;
  }
  return [a >>> 0, b >>> 0];
}

/** In the order of this machine, as SQLite writes them here, they are read where they lie. */
function wordsOf(bytes: Buffer, isLittle: boolean): Int32Array {
  const isInPlace = isLittle === isLittleMachine && bytes.byteOffset % 4 === 0;
  const own = isInPlace ? bytes : Buffer.from(new Uint8Array(bytes).buffer);
  if (isLittle !== isLittleMachine) own.swap32();
  return new Int32Array(own.buffer, own.byteOffset, own.length >> 2);
}

/** Ours stay far below. One that a reader kept long is not looked at: it would have to be in memory whole. */
const maxBytes = 128 * 1024 * 1024;

/** The log of a database; an empty one where there is none. */
export function readLog(file: string): Buffer {
  const { size } = statSync(`${file}-wal`, { throwIfNoEntry: false }) ?? { size: 0 };
  return size === 0 || size > maxBytes ? Buffer.of() : readFileSync(`${file}-wal`);
}

/**
 * Keeps a copy of a damaged log under another name, before SQLite drops what it passes over. For use before the file is opened.
 * The name is by the salt of the log, so a process that is killed again and again keeps one copy.
 */
export function keepDamagedLog(file: string): void {
  const log = readLog(file);
  if (isLogDamaged(log)) copyFileSync(`${file}-wal`, setAsideName(`${file}-wal`, log.readUInt32BE(16)));
}
