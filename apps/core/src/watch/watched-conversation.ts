import type { SessionNotice, SessionStreamFrame, TurnBegin } from '@svc/contract/session.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { createOrderedWriter } from '@svc/service-kit/redaction/ordered-writer.ts';
import type { TurnSink } from '../turn/turn.ts';
import { createGatheredFrames, type TurnFrameBody } from './gathered-frames.ts';
import { createParcels } from './parcels.ts';
import { turnBegin } from './turn-begin.ts';
import { createWatchReaders } from './watch-readers.ts';
import { createWatchRing } from './watch-ring.ts';
import type { Ending, WatchedTurn, Watcher } from './watch-types.ts';

export type ConversationDeps = {
  knownSecrets: Pick<KnownSecrets, 'redactor' | 'mask'>;
  clock: Pick<Clock, 'elapsed' | 'after'>;
  log: Pick<Log, 'error'>;
};

type Options = {
  key: string;
  /** The place of the first frame. */
  start: number;
  /** The number of stored characters has changed by `chars`. */
  onHeld(chars: number): void;
  /** The last watcher has left. */
  onEmpty(): void;
};

/** A conversation that is watched, or was a moment ago. */
export interface WatchedConversation {
  /** Streams an accepted turn as soon as it is safely in the journal. */
  show(turn: WatchedTurn): void;
  ended(turn: WatchedTurn, ending: () => Ending): void;
  add(watcher: Watcher, after: number | null): () => void;
  /** Deletes the stored frames. Turns that are still running are shown from their beginning. */
  forget(): void;
  /** Drops the stored frames: watchers who have not received them are told so. */
  clear(): void;
  /** Sends the waiting frames. */
  flush(): void;
  watchers(): number;
  /** Closes it, and returns the place after its last frame. */
  close(): number;
}

type Shown = { live: WatchedTurn; begin: TurnBegin | Promise<TurnBegin>; begun: TurnBegin | null };

/** Frames within this time are sent as a batch: the more watchers, the longer, which limits the number of writes. */
const gatherMs = (watchers: number) => Math.min(Math.max(watchers, 20), 1000);
const noSink: TurnSink = () => undefined;

export function watchConversation({ knownSecrets, clock, log }: ConversationDeps, options: Options): WatchedConversation {
  const { key, start, onHeld, onEmpty } = options;
  const ring = createWatchRing(start);
  const shown = new Map<string, Shown>();

  const complain = (error: unknown, what: string) => log.error({ err: error, conversation: key }, what);
  const change = (doChange: () => void): void => {
    const before = ring.chars();
    doChange();
    onHeld(ring.chars() - before);
  };
  const ordered = createOrderedWriter(knownSecrets.mask, (error) => {
    complain(error, 'a frame for watchers could not be written');
    change(ring.clear);
  });

  const write = (turnId: string | null, body: TurnFrameBody | Pick<SessionNotice, 'type' | 'message'>): void => {
    const seq = ring.takePlace();
    void ordered({ conversation_key: key, ...(turnId === null ? {} : { turn_id: turnId }), seq, ...body }, (json) => {
      change(() => {
        if (body.type === 'retract' && turnId !== null) ring.withdraw(turnId);
        ring.put({ seq, turnId, type: body.type, json });
      });
      readers.wake();
    });
  };

  const { push, flush, ...gathered } = createGatheredFrames({ clock, write, gatherMs: () => gatherMs(readers.count()) });

  /** The frames of a turn from its beginning. */
  const soFar = ({ live }: Shown, begin: TurnBegin): TurnFrameBody[] => {
    const [text, asked] = [live.said(), live.asked()];
    return [begin, ...(text === '' ? [] : [{ type: 'delta', text } as const]), ...(asked === null ? [] : [asked])];
  };
  const pushSoFar = (each: Shown, begin: TurnBegin): void => {
    for (const body of soFar(each, begin)) push(each.live.turn.id, body);
  };

  const startTurn = (each: Shown, begin: TurnBegin): TurnSink => {
    const { id } = each.live.turn;
    if (shown.get(id) !== each) return noSink; // the turn has ended meanwhile
    each.begun = begin;
    pushSoFar(each, begin);
    return (frame) => push(id, frame);
  };

  const present = (hasGap: boolean): SessionStreamFrame[] => {
    flush(); // assigns places to the waiting frames first
    const named = { conversation_key: key, seq: 0 };
    const turns = [...shown.values()].flatMap((each): SessionStreamFrame[] =>
      each.begun === null ? [] : soFar(each, each.begun).map((body) => ({ ...named, turn_id: each.live.turn.id, ...body })),
    );
    const place = { ...named, seq: ring.next() - 1, type: 'watching', message: watchingMessage } as const;
    return [...(hasGap ? [{ ...named, type: 'gap', message: gapMessage } as const] : []), ...turns, place];
  };

  const readers = createWatchReaders({
    ring,
    parcels: createParcels(knownSecrets.mask),
    present,
    onFault: (error) => complain(error, 'a watcher could not be served and was disconnected'),
    onEmpty,
  });

  return {
    show(live) {
      const fail = (error: unknown) => complain(error, 'a turn cannot be shown to watchers');
      try {
        const begin = turnBegin({ knownSecrets }, live.turn);
        const each: Shown = { live, begin, begun: null };
        shown.set(live.turn.id, each);
        const watch = (first: TurnBegin) => live.watch(() => startTurn(each, first));
        if (begin instanceof Promise) begin.then(watch, fail);
        else watch(begin);
      } catch (error) {
        fail(error);
      }
    },

    ended({ turn: { id } }, ending) {
      const each = shown.get(id);
      if (each === undefined) return;
      const end = (begin: TurnBegin) => {
        shown.delete(id);
        if (each.begun === null) push(id, begin);
        push(id, { type: 'end', ...ending() });
      };
      if (each.begun !== null) end(each.begun);
      else if (each.begin instanceof Promise) each.begin.then(end, () => shown.delete(id));
      else end(each.begin);
    },

    add: readers.add,

    forget() {
      gathered.drop();
      change(ring.forget);
      write(null, { type: 'forgotten', message: forgottenMessage });
      for (const each of shown.values()) if (each.begun !== null) pushSoFar(each, each.begun);
      readers.forgotten();
    },

    clear: () => change(ring.clear),
    flush,
    watchers: readers.count,

    close() {
      gathered.close();
      change(ring.clear);
      for (const { live } of shown.values()) live.unwatch();
      return ring.next();
    },
  };
}

const watchingMessage = 'From here on every frame is shown.';
const forgottenMessage = 'This conversation was forgotten. Running turns follow from their beginning.';
const gapMessage =
  'Frames are missing before the next one. The history has the messages: GET /v2/session/:key/history. Running turns follow from their beginning.';
