import { copyFileSync, readFileSync, statSync } from 'node:fs';
import { endianness } from 'node:os';
import { setAsideName } from './set-aside.ts';

const headerBytes = 32;
const frameHeaderBytes = 24;
/** The last bit is the byte order of the checksum's words. */
const magic = 0x377f0682;

/**
 * Whether a write-ahead log contains commits that SQLite ignores because an earlier frame does not match its checksum. SQLite
 * silently takes such a frame for a write that a kill has interrupted. But after a real interruption no commit follows.
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
    // Frames from an earlier use of the log have other salts.
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

/** The checksum over pairs of words. It uses signed 32-bit numbers only, which are fast even before this code is optimized. */
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

/** Words in this machine's byte order, as SQLite writes them here, are read in place. */
function wordsOf(bytes: Buffer, isLittle: boolean): Int32Array {
  const isInPlace = isLittle === isLittleMachine && bytes.byteOffset % 4 === 0;
  const own = isInPlace ? bytes : Buffer.from(new Uint8Array(bytes).buffer);
  if (isLittle !== isLittleMachine) own.swap32();
  return new Int32Array(own.buffer, own.byteOffset, own.length >> 2);
}

/** Logs usually stay far below this. A longer one is not checked, because all of it would have to be in memory. */
const maxBytes = 128 * 1024 * 1024;

/** The log of a database; empty without one. */
export function readLog(file: string): Buffer {
  const { size } = statSync(`${file}-wal`, { throwIfNoEntry: false }) ?? { size: 0 };
  return size === 0 || size > maxBytes ? Buffer.of() : readFileSync(`${file}-wal`);
}

/**
 * Copies a damaged log to another name, before SQLite drops the ignored commits. Call it before opening the file. The name
 * contains the salt of the log, so that a process that is killed repeatedly keeps only one copy.
 */
export function keepDamagedLog(file: string): void {
  const log = readLog(file);
  if (isLogDamaged(log)) copyFileSync(`${file}-wal`, setAsideName(`${file}-wal`, log.readUInt32BE(16)));
}
