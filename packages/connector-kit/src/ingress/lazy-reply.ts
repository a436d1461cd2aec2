import type { Envelope } from '@svc/contract/envelope.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import type { ServiceError } from '@svc/service-kit/service-error.ts';
import type { StreamHandlers } from '../connector.ts';

/** Shows one reply on the channel. */
export type TurnReply = {
  /** Called while the turn runs. Without `onAsk`, nobody sees the questions of the turn, which wait until they are denied. */
  handlers: StreamHandlers;
  /**
   * Shows the result. Resolves when the platform has accepted it; rejects when the channel will not show it. Also called for a turn without
   * an answer.
   */
  finish(result: HandleResult): Promise<void>;
  /** Shows that there is no answer, and why. */
  fail(error: ServiceError): Promise<void>;
};

/**
 * Begins the reply of a turn: called when there is something to show or the core has accepted the message, so not for a message that is
 * only observed. `turnId`: null when the core has not named it. `again`: an earlier process of this connector asked too, and may have shown
 * something. `before`: settles when the replies to earlier messages of the conversation have ended, so that this one is not shown first.
 */
export type OpenReply = (
  envelope: Envelope,
  turn: { turnId: string | null; again: boolean; before?: Promise<void> },
) => TurnReply;

/** A reply that begins when it is first needed. */
export type LazyReply = TurnReply & {
  accepted(turnId: string): void;
  /** The text will be streamed again from its beginning. */
  retract(): void;
};

type Turn = { envelope: Envelope; turnId: string | null; isAgain: boolean };

export function createLazyReply(openReply: OpenReply, { envelope, turnId, isAgain }: Turn, before: Promise<void>): LazyReply {
  let opened: TurnReply | null = null;
  let hasShown = false;
  const open = (id: string | null): TurnReply =>
    (opened ??= openReply(envelope, { turnId: id ?? turnId, again: isAgain, before }));
  const shows = (): StreamHandlers => {
    hasShown = true;
    return open(null).handlers;
  };

  return {
    accepted: (id) => void open(id),
    retract() {
      if (hasShown) opened?.handlers.onRetract?.();
      hasShown = false;
    },
    async finish(result) {
      if (opened === null && result.actions.length === 0) return;
      await open(result.turn_id).finish(result);
    },
    fail: async (error) => open(null).fail(error),
    handlers: {
      onQueued: (position) => opened?.handlers.onQueued?.(position),
      onDelta: (text) => shows().onDelta?.(text),
      onSegment: (text) => shows().onSegment?.(text),
      onThinking: (text) => shows().onThinking?.(text),
      onTool: (tool) => shows().onTool?.(tool),
      onToolResult: (result) => shows().onToolResult?.(result),
      onAsk: (ask) => shows().onAsk?.(ask),
      onAsked: (id, answer) => opened?.handlers.onAsked?.(id, answer),
      onRetract: () => opened?.handlers.onRetract?.(),
      onFlush: () => opened?.handlers.onFlush?.(),
    },
  };
}
