import { isUtf8 } from 'node:buffer';
import { maxLinkLine } from '@svc/contract/link.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { ByteBudget } from '@svc/service-kit/intake/byte-budget.ts';
import { createByteBlocks, freeBytes } from '@svc/service-kit/intake/byte-blocks.ts';
import { JsonShape } from '@svc/service-kit/json-shape.ts';
import { createPace } from '@svc/service-kit/redaction/pace.ts';
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
  /** Takes a long line, and its bytes with it; nothing else of the link is read until it was. */
  onLongLine: (line: Buffer) => Promise<void>;
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

  function open({ onLine, onLongLine, onRefused }: Listener) {
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
    };
    const close = () => {
      isOver = true;
      endLong();
      lease.clear();
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
    /** Null, or what has to be awaited before the next line. */
    const end = (part: Buffer): Promise<void> | null => {
      const isShort = blocks.length === 0 && part.length <= limits.freeBytes;
      if (isShort) look(part);
      else add(part);
      if (isOver) return null;
      shape = new JsonShape();
      if (isShort) return say(part);
      const line = blocks.take();
      endLong();
      if (line.length > limits.freeBytes) return onLongLine(line).finally(() => lease.clear());
      say(line);
      freeBytes(line);
      return null;
    };
    const say = (line: Buffer): null => {
      if (line.length > 0) onLine(line.toString('utf8'), isUtf8(line));
      return null;
    };
    const pushAfter = async (before: Promise<unknown>, chunk: Buffer): Promise<void> => {
      await before;
      await push(chunk);
    };
    /** Null, or what has to be awaited before the next part: many lines that come at once are read in turns of the event loop. */
    const push = (chunk: Buffer): Promise<void> | null => {
      const pace = createPace();
      let start = 0;
      for (let at = chunk.indexOf(10); at !== -1 && !isOver; at = chunk.indexOf(10, start)) {
        const taking = end(chunk.subarray(start, at));
        start = at + 1;
        if (taking !== null) return pushAfter(taking, chunk.subarray(start));
        if (start < chunk.length && pace.isDue()) return pushAfter(pace.pause(), chunk.subarray(start));
      }
      if (!isOver && start < chunk.length) add(chunk.subarray(start));
      return null;
    };
    return { push, close };
  }
  return { open, held: () => budget.held };
}

const tooLong = (limit: number) => new ServiceError('too_large', `A line over the link has at most ${limit} bytes.`);
const tooSlow = () => new ServiceError('unavailable', 'A long line stopped coming before its end, so its link is closed.');
