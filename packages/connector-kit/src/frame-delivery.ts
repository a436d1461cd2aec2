import type { TurnProgress } from '@svc/contract/turn.ts';
import type { StartContext, StreamHandlers } from './connector.ts';
import { createGuardedCall } from './guarded-call.ts';

/** Passes frames to the handlers of their turns. A handler that throws is logged, and does not affect other turns. */
export type FrameDelivery = {
  take(handlers: StreamHandlers, frame: TurnProgress): void;
  /** Ends a read: each turn that received a frame may now write. */
  flush(): void;
};

export function createFrameDelivery(log: StartContext['log']): FrameDelivery {
  const touched = new Set<StreamHandlers>();
  const guarded = createGuardedCall(log, 'a stream handler');

  return {
    take(handlers, frame) {
      guarded(() => {
        if (handlers.onFlush !== undefined) touched.add(handlers);
        return dispatchFrame(frame, handlers);
      });
    },

    flush() {
      for (const handlers of touched) guarded(() => handlers.onFlush?.());
      touched.clear();
    },
  };
}

/** Calls the handler of one frame. An unknown frame of a newer core is ignored. */
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
