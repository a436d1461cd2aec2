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
  /** The first bytes of each line are not counted: the number of links bounds them. */
  freeBytes: 64 * 1024,
  /** Longer lines that are still incomplete, over all links. */
  comingBytes: 64 * mib,
  /** A long line must bring at least `paceBytes` in each `paceMs`. */
  paceMs: 10_000,
  paceBytes: 10 * 1024,
};

type Listener = {
  /** `isText` is false for bytes that are not UTF-8: different bytes would decode to the same text. */
  onLine: (line: string, isText: boolean) => void;
  /** Takes over a long line and its bytes; nothing else of the link is read until this resolves. */
  onLongLine: (line: Buffer) => Promise<void>;
  /** The link cannot continue: nothing more of it is read. */
  onRefused: (why: ServiceError) => void;
};

type Reader = { giveUp(why: ServiceError): void };

/** Reads the lines of all links, within one budget of bytes. */
export interface LinkIntake {
  open(listener: Listener): { push: (chunk: Buffer) => Promise<void> | null; close: () => void };
  held(): number;
}

/**
 * Splits the input of all links into lines, within one budget. When long lines would exceed it, the one that began last is
 * given up, so that the others can complete; its connector sends it again.
 */
export function createLinkIntake(clock: Clock, limits = linkLimits): LinkIntake {
  const budget = new ByteBudget(limits.comingBytes);
  /** Readers in the middle of a long line, in the order in which these began. */
  const long = new Set<Reader>();
  const giveUpLast = () =>
    [...long].at(-1)?.giveUp(queueFull('Too many long messages arrived at once. Send this again in a moment.', 1));

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
    /** Checks the shape of the JSON before anything parses it. */
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
    /** Null, or what has to be awaited before the next part: many lines that arrive at once are spread over several turns of the event loop. */
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

const tooLong = (limit: number) => new ServiceError('too_large', `A line of the link may have at most ${limit} bytes.`);
const tooSlow = () => new ServiceError('unavailable', 'A long line was not finished in time, so its link is closed.');
