import type { TurnProgress } from '@svc/contract/turn.ts';
import type { StreamHandlers } from './connector.ts';

/** Calls the handler of one frame. A frame of a newer core that this one does not know is left out. */
export function dispatchFrame(frame: TurnProgress, handlers: StreamHandlers): void {
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
    case 'queued':
      return handlers.onQueued?.(frame.position);
    case 'retract':
      return handlers.onRetract?.();
  }
}
