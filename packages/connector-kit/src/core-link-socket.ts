import { connect, type Socket } from 'node:net';
import { maxLinkLine } from '@svc/contract/link.ts';
import { backOffMs } from '@svc/service-kit/backoff.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { createLineSplitter } from '@svc/service-kit/line-splitter.ts';
import type { StartContext } from './connector.ts';

type LinkSocketOptions = {
  path: string;
  /** The first line of every connection. */
  hello: string;
  clock: Clock;
  log: StartContext['log'];
  random: () => number;
  /** True while a caller waits for an answer: only then is a broken link opened again. */
  isNeeded: () => boolean;
  onOpen: () => void;
  /** False ends the link, because the line does not follow the protocol. */
  onLine: (line: string) => boolean;
  /** All lines of one read have been delivered. */
  onReadEnd: () => void;
  onBroken: () => void;
};

/**
 * The socket of the core link: connects on demand, backs off while the core is unreachable, and writes once per event loop
 * iteration.
 */
export type LinkSocket = {
  open(): void;
  isOpen(): boolean;
  /** True when the core does not read what is written. */
  isClogged(): boolean;
  /**
   * Queues one line. All lines of one turn of the event loop are sent in one write, because a write costs both sides more than building a
   * line does. Only while open.
   */
  write(line: string): void;
  /** Data that was already written is still sent. */
  close(): void;
};

/** Varied by a fifth, so that connectors do not all reconnect at the same instant. */
const backOff = { firstMs: 50, maxMs: 1_000, jitter: [0.8, 1.2] } as const;
/** With more unsent characters than this, the core counts as stuck. */
const cloggedAt = 4 * maxLinkLine;

export function createLinkSocket(options: LinkSocketOptions): LinkSocket {
  const { path, hello, clock, log, random, isNeeded, onOpen, onLine, onReadEnd, onBroken } = options;
  let socket: Socket | null = null;
  let isOpen = false;
  let closed = false;
  /** Failures since the core last sent something: a core that accepts the connection and breaks it at once has not recovered. */
  let failures = 0;
  let cancelRetry: (() => void) | null = null;
  let pending = '';

  function open(): void {
    if (closed || socket !== null || cancelRetry !== null) return;
    socket = connectTo(path, { onOpen: opened, onLine: take, onReadEnd, onEnd: lost });
  }

  function opened(): void {
    isOpen = true;
    pending = `${hello}\n`;
    setImmediate(flush);
    if (failures > 0) log('info', 'linked to the core again');
    onOpen();
  }

  function take(line: string): boolean {
    const isOurs = onLine(line);
    if (isOurs) failures = 0;
    return isOurs;
  }

  function lost(why: string): void {
    const wasOpen = isOpen;
    socket = null;
    isOpen = false;
    pending = '';
    if (closed) return;
    failures++;
    if (wasOpen || failures === 1) log('warn', 'the link to the core is down', { why });
    // Set before any caller learns of the break, so that one that asks again at once waits like all others.
    cancelRetry = clock.after(backOffMs(backOff, failures, random), () => {
      cancelRetry = null;
      if (isNeeded()) open();
    });
    if (wasOpen) onBroken();
  }

  function flush(): void {
    if (pending === '' || socket === null) return;
    socket.write(pending);
    pending = '';
  }

  return {
    open,
    isOpen: () => isOpen,
    isClogged: () => socket !== null && socket.writableLength > cloggedAt,
    write(line) {
      if (pending === '') setImmediate(flush);
      pending += `${line}\n`;
    },
    close() {
      closed = true;
      cancelRetry?.();
      if (isOpen) flush();
      socket?.destroy();
    },
  };
}

type Listener = Pick<LinkSocketOptions, 'onOpen' | 'onLine' | 'onReadEnd'> & { onEnd(why: string): void };

/** One connection, whose data is split into lines. */
function connectTo(path: string, { onOpen, onLine, onReadEnd, onEnd }: Listener): Socket {
  const socket = connect(path);
  let fault = 'closed by the core';
  const splitter = createLineSplitter(
    maxLinkLine,
    (line) => {
      if (socket.destroyed) return; // the lines after an invalid one cannot be trusted either
      if (!onLine(line)) socket.destroy(new Error('the core sent something that is not a reply'));
    },
    () => socket.destroy(new Error('the core sent a line that is too long')),
  );
  socket.on('connect', () => onOpen());
  socket.on('data', (chunk) => {
    splitter.push(chunk);
    onReadEnd();
  });
  socket.on('error', (error) => (fault = error.message));
  socket.on('close', () => onEnd(fault));
  return socket;
}
