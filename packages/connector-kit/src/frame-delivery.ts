import type { TurnProgress } from '@svc/contract/turn.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { StartContext, StreamHandlers } from './connector.ts';

/** Hands frames to the handlers of their turns. A handler that throws is logged and harms no other turn. */
export type FrameDelivery = {
  take(handlers: StreamHandlers, frame: TurnProgress): void;
  /** Ends a read: everybody who got a frame in it may write now. */
  flush(): void;
};

export function createFrameDelivery(log: StartContext['log']): FrameDelivery {
  const touched = new Set<StreamHandlers>();
  const complain = (error: unknown) => log('error', 'a stream handler threw', { error: errorText(error) });

  return {
    take(handlers, frame) {
      if (handlers.onFlush !== undefined) touched.add(handlers);
      try {
        dispatchFrame(frame, handlers);
      } catch (error) {
        complain(error);
      }
    },

    flush() {
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

/** Calls the handler of one frame. A frame of a newer core that this one does not know is left out. */
function dispatchFrame(frame: TurnProgress, handlers: StreamHandlers): void {
  switch (frame.type) {
    case 'delta':
      return handlers.onDelta?.(frame.text);
    case 'segment':
      return handlers.onSegment?.(frame.text);
    case 'thinking':
      return handlers.onThinking?.(frame.text);
    case 'tool':
      return handlers.onTool?.({ id: frame.id, name: frame.name, input: frame.input });
    case 'tool_result':
      return handlers.onToolResult?.({ id: frame.id, ok: frame.ok, output: frame.output });
    case 'ask':
      return handlers.onAsk?.(frame.ask);
    case 'asked':
      return handlers.onAsked?.(frame.id, frame.answer);
    case 'queued':
      return handlers.onQueued?.(frame.position);
    case 'retract':
      return handlers.onRetract?.();
  }
}
