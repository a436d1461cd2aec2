import type { CoreApi, StreamHandlers } from './connector.ts';
import { replyStyles, type ReplyStyle } from './common-fields.ts';

/** The handlers that each style leaves out while a turn runs. */
const leftOut: Readonly<Record<ReplyStyle, Partial<StreamHandlers>>> = {
  stream: {},
  steps: { onDelta: undefined, onThinking: undefined },
  final: { onDelta: undefined, onThinking: undefined, onSegment: undefined, onTool: undefined, onToolResult: undefined },
};

/**
 * Applies an instance's common fields to its calls to the core: with `mention_only`, a message in a room that mentions none of our names is
 * only observed, and `reply_style` decides which progress of a running turn the connector receives.
 */
export function withCommonFields<Core extends CoreApi>(core: Core, config: Record<string, unknown>): Core {
  const style = replyStyles.find((each) => each === config['reply_style']) ?? 'stream';
  const isMentionOnly = config['mention_only'] === true;
  if (style === 'stream' && !isMentionOnly) return core;
  const taken: CoreApi['handle'] = (envelope, options) =>
    core.handle(isMentionOnly && envelope.mentioned === false ? { ...envelope, delivery: 'async' } : envelope, options);
  return {
    ...core,
    handle: taken,
    handleStream: (envelope, handlers, options) =>
      isMentionOnly && envelope.mentioned === false
        ? taken(envelope, options)
        : core.handleStream(envelope, { ...handlers, ...leftOut[style] }, options),
  };
}
