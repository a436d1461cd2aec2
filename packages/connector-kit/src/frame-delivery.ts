import type { TurnProgress } from '@svc/contract/turn.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { StartContext, StreamHandlers } from './connector.ts';
import { dispatchFrame } from './dispatch-frame.ts';

/** Hands frames to the handlers of their turns. A handler that throws is logged and harms no other turn. */
export function createFrameDelivery(log: StartContext['log']) {
  const touched = new Set<StreamHandlers>();
  const complain = (error: unknown) => log('error', 'a stream handler threw', { error: errorText(error) });

  return {
    take(handlers: StreamHandlers, frame: TurnProgress): void {
      if (handlers.onFlush !== undefined) touched.add(handlers);
      try {
        dispatchFrame(frame, handlers);
      } catch (error) {
        complain(error);
      }
    },

    /** Ends a read: everybody who got a frame in it may write now. */
    flush(): void {
      for (const handlers of touched) {
        try {
          handlers.onFlush?.();
        } catch (error) {
          complain(error);
        }
      }
      touched.clear();
    },
  };
}
