import type { EngineFailure } from '@svc/engine-kit/engine.ts';
import type { Notification } from './json-rpc.ts';

export type OnNotification = (notification: Notification) => void;
/** No more notifications will come, for this reason. `overflow`: it was ended because this listener's turn made it write too much. */
export type OnEnd = (reason: string, overflow?: EngineFailure | null) => void;

/** The listeners of an app-server. A notification that a listener cannot handle ends only that listener. */
export type Listeners = {
  /** The returned function removes the listener. One that is added after the end is called at once. */
  add(onNotification: OnNotification, onEnd?: OnEnd): () => void;
  notify(notification: Notification): void;
  end(reason: string, overflow?: EngineFailure | null): void;
  readonly size: number;
};

export function createListeners(onFault: (error: unknown, method: string) => void): Listeners {
  const listeners = new Set<{ onNotification: OnNotification; onEnd: OnEnd }>();
  let ended: string | null = null;
  return {
    add(onNotification, onEnd = () => undefined) {
      const listener = { onNotification, onEnd };
      if (ended === null) listeners.add(listener);
      else onEnd(ended);
      return () => void listeners.delete(listener);
    },
    notify(notification) {
      for (const { onNotification, onEnd } of listeners) {
        try {
          onNotification(notification);
        } catch (error) {
          onFault(error, notification.method);
          onEnd(`codex sent a "${notification.method}" that could not be parsed`);
        }
      }
    },
    end(reason, overflow = null) {
      ended = reason;
      // An unreadable line names no turn: with several listeners, none can be blamed.
      const blamed = listeners.size === 1 ? overflow : null;
      for (const { onEnd } of listeners) onEnd(reason, blamed);
      listeners.clear();
    },
    get size() {
      return listeners.size;
    },
  };
}
