import { systemClock, type Clock, type CoreApi, type SessionAsker } from '@svc/connector-kit';
import type { StreamFrame } from '@svc/contract/device-gateway.ts';
import { toStreamFrame } from './to-stream-frame.ts';

type Options = {
  sessions: Pick<CoreApi['sessions'], 'watch'>;
  as: SessionAsker;
  key: string;
  /** The device's own conversation, which begins with its first message. */
  isOwn: boolean;
  /** The place of the last frame that the reader has seen. */
  after: number | null;
  /** `place`: the reader may go on behind it. A frame of null has nothing to show but its place. */
  onFrame(frame: StreamFrame | null, place: number | null): void;
  /** The core shows it no more. */
  onEnd(): void;
  clock?: Clock;
};

export type ConversationWatch = {
  /** A turn was accepted here: a conversation may have begun where there was none. */
  look(turnId: string): void;
  /** It is over, and this is how. Shown to a reader for whom the core began too late to see anything of it. */
  ended(turnId: string, frames: readonly StreamFrame[]): void;
  end(): void;
};

/** Where nothing says that a conversation has begun, it is looked for so often, ms. */
const lookEveryMs = 30_000;
const againMs = 1_000;
/** What the core shows of a turn and what it answers come by two ways, so far apart at most, ms. */
const apartMs = 300;

/**
 * Shows a conversation to one reader, from its place on. A conversation that is not there yet, or was forgotten, is waited for: what is seen of it
 * then begins with `gap`, because words may have been said before; how their turns ended is shown, because who said them waits for that.
 */
export function watchConversation(options: Options): ConversationWatch {
  const { sessions, as, key, isOwn, onFrame, onEnd, clock = systemClock } = options;
  let place = options.after;
  /** There was no conversation when it was last looked for. */
  let isMissing = false;
  let isWaiting = false;
  /** Something was said while the core was asked. */
  let wasTold = false;
  /** The core has begun to show it. */
  let isShown = false;
  /** Turns that were accepted before, of which nothing was shown. */
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
