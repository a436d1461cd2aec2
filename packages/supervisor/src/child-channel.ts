import type { Duplex } from 'node:stream';
import { createLineSplitter } from '@svc/service-kit/line-splitter.ts';

export type ChannelListener = {
  onMessage(message: unknown): void;
  /** What the child sent is no message. Nothing more is read of it. */
  onFault(why: string): void;
  /** The child has had to wait for its parent for `hurriedWindows` on end. */
  onHurry(): void;
};

export type ChildChannel = {
  /** False when the child is gone, or takes nothing any more. */
  send(message: unknown): boolean;
  close(): void;
};

/**
 * What a child may say: in each window of `perMs`, so much. A message costs its characters and `messageCost`. One that
 * says more waits: what it has written and nobody has read stays with it.
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
 * The parent's end of the channel behind a child's `process.send`: JSON lines on a pipe, as Node documents it. Node's own
 * end takes a line of any length, as many as come, and ends the parent over one that is not JSON.
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
      return fault('what it said to its parent is not JSON');
    }
    onMessage(message);
  }

  function goOn(): void {
    timer = null;
    debt = Math.max(0, debt - channelLimits.budget);
    windows = debt === 0 ? 0 : windows + 1;
    if (windows === channelLimits.hurriedWindows) onHurry();
    if (debt > 0) timer = setTimeout(goOn, channelLimits.perMs);
    if (debt < channelLimits.budget) pipe.resume();
  }

  const splitter = createLineSplitter(channelLimits.lineChars, take, () =>
    fault(`what it said to its parent is longer than ${channelLimits.lineChars} characters`),
  );
  pipe.on('data', (chunk: Buffer) => {
    timer ??= setTimeout(goOn, channelLimits.perMs);
    debt += chunk.length;
    splitter.push(chunk);
    if (debt >= channelLimits.budget) pipe.pause();
  });
  pipe.on('error', () => undefined); // the child is gone, which is reported elsewhere
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
