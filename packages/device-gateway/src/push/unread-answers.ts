import type { PushMessage } from '@svc/contract/device-notices.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import type { PushSender } from './push-sender.ts';

type Deps = {
  push: PushSender;
  clock: Clock;
  /** Whether a device reads its conversation at the moment. */
  isReading(deviceId: string): boolean;
  /** The owner wants the answer's text in the notification, where push services and lock screens can see it. */
  tellsContent: boolean;
};

export type UnreadAnswers = {
  /** A turn of the device's conversation has ended with this answer. */
  ended(deviceId: string, text: string): void;
  /** The device was removed. */
  forget(deviceId: string): void;
};

/** How long an answer may be unread before its device is notified, ms. */
const readWithinMs = 5_000;
const maxWaiting = 10_000;
const maxTextChars = 300;

/** Notifies devices of answers that nobody was there to read; of several in a short time, only of the last. */
export function createUnreadAnswers({ push, clock, isReading, tellsContent }: Deps): UnreadAnswers {
  const waiting = new Map<string, () => void>();

  function forget(deviceId: string): void {
    waiting.get(deviceId)?.();
    waiting.delete(deviceId);
  }

  return {
    forget,
    ended(deviceId, text) {
      if (text.trim() === '' || isReading(deviceId)) return forget(deviceId);
      forget(deviceId);
      if (waiting.size >= maxWaiting) return;
      const tell = () => {
        waiting.delete(deviceId);
        // A reader who has connected in the meantime finds it in the history.
        if (!isReading(deviceId)) push.send(deviceId, toMessage(text, tellsContent));
      };
      waiting.set(deviceId, clock.after(readWithinMs, tell));
    },
  };
}

const toMessage = (text: string, tellsContent: boolean): PushMessage => ({
  type: 'answer',
  ...(tellsContent && { text: cutText(text.trim(), maxTextChars) }),
});
