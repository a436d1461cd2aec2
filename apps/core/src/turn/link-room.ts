import type { Socket } from 'node:net';
import type { Clock } from '@svc/service-kit/clock.ts';

/** Whether a connector reads what is written to it. Turns use the same link, and a link with too much unread is closed. */
export interface LinkRoom {
  /** This many characters are about to be written. */
  wrote(chars: number): void;
  /** Null when there is room for more. Else resolves with true once there is, or with false when the connector is gone or reads nothing for 30 s. */
  room(): Promise<boolean> | null;
}

/** Bytes that wait for the connector. */
const maxUnread = 512 * 1024;
const patienceMs = 30_000;

export function createLinkRoom(
  socket: Pick<Socket, 'writableLength' | 'destroyed' | 'once' | 'off'>,
  clock: Pick<Clock, 'after'>,
): LinkRoom {
  /** Written in this turn of the event loop; it reaches the socket at the turn's end. */
  let written = 0;
  let draining: Promise<boolean> | null = null;

  const hasRoom = () => written + socket.writableLength < maxUnread;
  const drained = async (): Promise<boolean> => {
    await new Promise((resolve) => setImmediate(resolve));
    if (hasRoom()) return true;
    return new Promise((resolve) => {
      const settle = (isDrained: boolean) => () => {
        cancel();
        socket.off('drain', onDrain);
        socket.off('close', onClose);
        resolve(isDrained);
      };
      const [onDrain, onClose] = [settle(true), settle(false)];
      const cancel = clock.after(patienceMs, onClose);
      socket.once('drain', onDrain);
      socket.once('close', onClose);
    });
  };

  return {
    wrote(chars) {
      if (written === 0) setImmediate(() => (written = 0));
      written += chars;
    },
    room() {
      if (socket.destroyed) return Promise.resolve(false);
      return hasRoom() ? null : (draining ??= drained().finally(() => (draining = null)));
    },
  };
}
