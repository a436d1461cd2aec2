import type { Duplex } from 'node:stream';
import { createLineSplitter } from '@svc/service-kit/line-splitter.ts';

export type ChannelListener = {
  onMessage(message: unknown): void;
  /** The child sent an invalid message. Nothing more is read from it. */
  onFault(why: string): void;
  /** The child exceeded its budget for `hurriedWindows` windows in a row. */
  onHurry(): void;
};

export type ChildChannel = {
  /** False when the child has ended or does not read any more. */
  send(message: unknown): boolean;
  close(): void;
};

/**
 * How much a child may send: `budget` in each window of `perMs`. A message costs its characters and `messageCost`. A child
 * that sends more has to wait: the rest stays unread in its pipe.
 */
export const channelLimits = {
  lineChars: 1024 * 1024,
  unreadBytes: 1024 * 1024,
  perMs: 100,
  budget: 256 * 1024,
  messageCost: 512,
  hurriedWindows: 50,
} as const;

/**
 * The parent's end of the channel of a child's `process.send`: JSON lines on a pipe, as Node documents it. Node's own end has
 * no limits, and a line that is not JSON ends the parent.
 */
export function openChildChannel(pipe: Duplex, { onMessage, onFault, onHurry }: ChannelListener): ChildChannel {
  let debt = 0;
  let windows = 0;
  let isBroken = false;
  let timer: NodeJS.Timeout | null = null;

  function fault(why: string): void {
    isBroken = true;
    onFault(why);
    pipe.destroy();
  }

  function take(line: string): void {
    if (isBroken) return;
    debt += channelLimits.messageCost;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      return fault('its message to its parent is not JSON');
    }
    onMessage(message);
  }

  function resume(): void {
    timer = null;
    debt = Math.max(0, debt - channelLimits.budget);
    windows = debt === 0 ? 0 : windows + 1;
    if (windows === channelLimits.hurriedWindows) onHurry();
    if (debt > 0) timer = setTimeout(resume, channelLimits.perMs);
    if (debt < channelLimits.budget) pipe.resume();
  }

  const splitter = createLineSplitter(channelLimits.lineChars, take, () =>
    fault(`its message to its parent is longer than ${channelLimits.lineChars} characters`),
  );
  pipe.on('data', (chunk: Buffer) => {
    timer ??= setTimeout(resume, channelLimits.perMs);
    debt += chunk.length;
    splitter.push(chunk);
    if (debt >= channelLimits.budget) pipe.pause();
  });
  pipe.on('error', () => undefined); // the child has ended, which is reported elsewhere
  pipe.once('close', () => {
    if (timer !== null) clearTimeout(timer);
  });

  return {
    send(message) {
      if (!pipe.writable || pipe.writableLength > channelLimits.unreadBytes) return false;
      pipe.write(`${JSON.stringify(message)}\n`);
      return true;
    },
    close: () => void pipe.destroy(),
  };
}
