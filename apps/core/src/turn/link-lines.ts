import { isUtf8 } from 'node:buffer';
import { maxLinkLine } from '@svc/contract/link.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { ByteBudget } from '@svc/service-kit/intake/byte-budget.ts';
import { createByteBlocks, freeBytes } from '@svc/service-kit/intake/byte-blocks.ts';
import { JsonShape } from '@svc/service-kit/json-shape.ts';
import { createPace, type Pace } from '@svc/service-kit/redaction/pace.ts';
import { queueFull, ServiceError } from '@svc/service-kit/service-error.ts';

const mib = 1024 * 1024;
export const linkLimits = {
  lineBytes: maxLinkLine,
  /** Of each line, not counted: the number of links bounds it. */
  freeBytes: 64 * 1024,
  /** Of longer lines that have not come to their end, over all links. */
  comingBytes: 64 * mib,
  /** A long line brings at least so many bytes in each span. */
  paceMs: 10_000,
  paceBytes: 10 * 1024,
};

type Listener = {
  /** `isText` is false for bytes that are no UTF-8: decoded, several of them are the same text. */
  onLine: (line: string, isText: boolean) => void;
  /** The link cannot go on: nothing of it is read any more. */
  onRefused: (why: ServiceError) => void;
};

type Reader = { giveUp(why: ServiceError): void };

/** Reads the lines of all links, within one budget of bytes. */
export interface LinkIntake {
  open(listener: Listener): { push: (chunk: Buffer) => Promise<void> | null; close: () => void };
  held(): number;
}

/**
 * Cuts what comes over all links into lines, within one budget. When long lines would take more than there is, the one that
 * began last is given up: the others come to their end, and its connector sends it again.
 */
export function createLinkIntake(clock: Clock, limits = linkLimits): LinkIntake {
  const budget = new ByteBudget(limits.comingBytes);
  /** In the middle of a long line, the one that began first in front. */
  const long = new Set<Reader>();
  const giveUpLast = () =>
    [...long].at(-1)?.giveUp(queueFull('Too many long messages come at once. Send this again in a moment.', 1));

  function open({ onLine, onRefused }: Listener) {
    const blocks = createByteBlocks();
    const lease = budget.lease();
    let isOver = false;
    let came = 0;
    let stopPace: (() => void) | null = null;
    let shape = new JsonShape();

    const reader: Reader = {
      giveUp(why) {
        close();
        onRefused(why);
      },
    };
    const endLong = () => {
      stopPace?.();
      stopPace = null;
      long.delete(reader);
      lease.clear();
    };
    const close = () => {
      isOver = true;
      endLong();
      blocks.drop();
    };
    const checkPace = () => {
      if (came < limits.paceBytes) reader.giveUp(tooSlow());
      came = 0;
    };
    const hold = (bytes: number) => {
      long.add(reader);
      stopPace ??= clock.every(limits.paceMs, checkPace);
      while (!isOver && !lease.take(bytes - lease.bytes)) giveUpLast();
    };
    /** What a line is made of, before anything parses it. */
    const look = (part: Buffer) => {
      try {
        shape.take(part);
      } catch (error) {
        reader.giveUp(error as ServiceError);
      }
    };
    const add = (part: Buffer) => {
      came += part.length;
      const length = blocks.length + part.length;
      if (length > limits.lineBytes) return reader.giveUp(tooLong(limits.lineBytes));
      look(part);
      if (isOver) return;
      if (length > limits.freeBytes) hold(length);
      if (!isOver) blocks.add(part);
    };
    const end = (part: Buffer) => {
      const isShort = blocks.length === 0 && part.length <= limits.freeBytes;
      if (isShort) look(part);
      else add(part);
      if (isOver) return;
      shape = new JsonShape();
      if (isShort) return say(decode(part));
      const line = blocks.take();
      endLong();
      const decoded = decode(line);
      freeBytes(line);
      say(decoded);
    };
    const say = ({ text, isText }: ReturnType<typeof decode>) => {
      if (text !== '') onLine(text, isText);
    };
    const pushInTurns = async (chunk: Buffer, pace: Pace): Promise<void> => {
      await pace.pause();
      await push(chunk);
    };
    /** Null, or what has to be awaited before the next part: many lines that come at once are read in turns of the event loop. */
    const push = (chunk: Buffer): Promise<void> | null => {
      const pace = createPace();
      let start = 0;
      for (let at = chunk.indexOf(10); at !== -1 && !isOver; at = chunk.indexOf(10, start)) {
        end(chunk.subarray(start, at));
        start = at + 1;
        if (start < chunk.length && pace.isDue()) return pushInTurns(chunk.subarray(start), pace);
      }
      if (!isOver && start < chunk.length) add(chunk.subarray(start));
      return null;
    };
    return { push, close };
  }
  return { open, held: () => budget.held };
}

const decode = (line: Buffer) => ({ text: line.toString('utf8'), isText: isUtf8(line) });

const tooLong = (limit: number) => new ServiceError('too_large', `A line over the link has at most ${limit} bytes.`);
const tooSlow = () => new ServiceError('unavailable', 'A long line stopped coming before its end, so its link is closed.');
