import { systemClock, type Clock, type CoreApi, type SessionAsker } from '@svc/connector-kit';
import type { StreamFrame } from '@svc/contract/device-gateway.ts';
import { toStreamFrame } from './to-stream-frame.ts';

type Options = {
  sessions: Pick<CoreApi['sessions'], 'watch'>;
  as: SessionAsker;
  key: string;
  /** True for the device's own conversation, which begins with its first message. */
  isOwn: boolean;
  /** The position of the last frame that the reader has seen. */
  after: number | null;
  /** `place`: the reader may continue after it. A null frame has no content, only its position. */
  onFrame(frame: StreamFrame | null, place: number | null): void;
  /** The core no longer shows the conversation. */
  onEnd(): void;
  clock?: Clock;
};

export type ConversationWatch = {
  /** A turn was accepted here: it may have begun a new conversation. */
  look(turnId: string): void;
  /** The turn has ended with these frames. They are shown to a reader for whom the core's watch began too late. */
  ended(turnId: string, frames: readonly StreamFrame[]): void;
  end(): void;
};

/** Interval of checks for a new conversation when nothing else reports it, ms. */
const lookEveryMs = 30_000;
const againMs = 1_000;
/** The core's watch and its answer to a turn arrive on different ways, at most this far apart, ms. */
const apartMs = 300;

/**
 * Shows a conversation to one reader, from their position on. Waits for a conversation that does not exist yet or was forgotten. Its first
 * frame is then `gap`, because messages may have been missed; the outcomes of those turns are still shown, because their senders wait for
 * them.
 */
export function watchConversation(options: Options): ConversationWatch {
  const { sessions, as, key, isOwn, onFrame, onEnd, clock = systemClock } = options;
  let place = options.after;
  /** The conversation did not exist when it was last checked. */
  let isMissing = false;
  let isWaiting = false;
  /** A turn was accepted while the core was being asked. */
  let wasTold = false;
  /** The core's watch has begun. */
  let isShown = false;
  /** Turns that were accepted earlier, of which nothing was shown. */
  const unseen = new Set<string>();
  let isOver = false;
  let stop = (): void => undefined;
  let cancelLook = (): void => undefined;

  function begin(): void {
    if (isOver) return;
    isWaiting = false;
    cancelLook();
    stop = sessions.watch(
      as,
      key,
      {
        onFrame(frame) {
          wasTold = false;
          isShown = true;
          if ('turn_id' in frame) unseen.delete(frame.turn_id);
          if (isMissing) {
            isMissing = false;
            onFrame({ conversation_key: key, type: 'gap' }, null);
          }
          if (frame.seq > 0) place = frame.seq;
          onFrame(toStreamFrame(frame), frame.seq > 0 ? frame.seq : null);
        },
        onEnd(error) {
          if (isOver) return;
          isShown = false;
          if (error.code === 'busy' || error.code === 'unavailable') return beginIn(againMs);
          if (!isOwn || error.code !== 'not_found') return onEnd();
          isMissing = true;
          place = null;
          beginIn(wasTold ? againMs : lookEveryMs);
          wasTold = false;
        },
      },
      place === null ? {} : { after: place },
    );
  }

  function beginIn(ms: number): void {
    isWaiting = true;
    cancelLook = clock.after(ms, begin);
  }

  begin();
  return {
    look(turnId) {
      if (!isShown) unseen.add(turnId);
      if (isMissing && isWaiting) begin();
      else wasTold = true;
    },
    ended(turnId, frames) {
      if (!unseen.has(turnId)) return;
      clock.after(apartMs, () => {
        if (unseen.delete(turnId) && !isOver) for (const frame of frames) onFrame(frame, null);
      });
    },
    end() {
      isOver = true;
      cancelLook();
      stop();
    },
  };
}
