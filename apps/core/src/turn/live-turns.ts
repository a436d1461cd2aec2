import { filesOf, textOf, type HandleResult, type ToolUse, type TurnProgress } from '@svc/contract/turn.ts';
import { compositeKey } from '@svc/service-kit/composite-key.ts';
import { toServiceError } from '@svc/service-kit/http/error-handler.ts';
import type { Database } from '@svc/store/database.ts';
import { ShortLivedMap } from '@svc/service-kit/short-lived-map.ts';
import type { Audience } from '../ask/ask-person.ts';
import type { StoredDelivery } from '../delivery/delivery-store.ts';
import type { SessionWatches } from '../watch/session-watches.ts';
import type { WatchedTurn } from '../watch/watch-types.ts';
import { holds } from './amend/changed-turn.ts';
import type { Caller, Turn, TurnSink } from './turn.ts';

/** A turn between its acceptance and its end, with all callers that wait for its answer. */
export type LiveTurn = WatchedTurn & {
  /** True once it has its slot and runs; until then it waits. */
  isRunning: boolean;
  /** The first of the tools that it has called. */
  tools: readonly ToolUse[];
  /** Sends a frame to every caller with a sink, once the turn is safely in the journal. */
  sink: TurnSink;
  result: Promise<HandleResult>;
  /** Resolves when everything that this turn has changed is committed; rejects when some of it may be lost. */
  flush(): Promise<void>;
  /** Ends it, whether it waits or runs; undefined before it has a place. */
  abort?: () => void;
  /** The push of an injected turn's reply. */
  delivery?: StoredDelivery;
  attach(caller: Caller): void;
  /** The turn is in the journal. Callers with `onAccepted` are notified when that is committed; later ones at once. */
  accepted(): void;
  isAccepted(): boolean;
  /** The turn is live until `answer` settles, which is the answer for all who join. */
  follow(answer: Promise<HandleResult>): Promise<HandleResult>;
  hasCaller(): boolean;
  /** Whether a question can be shown to a person now. */
  audience(): Audience;
};

/** The live turns. */
export interface LiveTurns {
  find(key: string, messageId: string | undefined): LiveTurn | undefined;
  byId(turnId: string): LiveTurn | undefined;
  /** The live turns of a conversation that are in the journal. */
  acceptedOf(key: string): LiveTurn[];
  /** Those that answer this message. If there is none, a message whose end is not in the journal has lost its turn. */
  holdersOf(key: string, messageId: string): LiveTurn[];
  /** From now on the turn is live. `follow` must be called in the same tick. */
  begin(turn: Turn, caller: Caller | null): LiveTurn;
  count(): number;
}

type Deps = {
  db: Pick<Database, 'mark' | 'flush'>;
  watches: Pick<SessionWatches, 'accepted' | 'ended'>;
  /** The service is stopping: a turn that can no longer be answered stays open. */
  isClosed(): boolean;
};

/** Keeps live turns by conversation and message id, so that a message that arrives twice joins its own turn. */
export function createLiveTurns({ db, watches, isClosed }: Deps): LiveTurns {
  const byId = new ShortLivedMap<string, LiveTurn>();
  const byMessage = new ShortLivedMap<string, LiveTurn>();

  const acceptedOf = (key: string) =>
    [...byId.values()].filter(({ turn, isAccepted }) => turn.envelope.conversation_key === key && isAccepted());

  return {
    find: (key: string, messageId: string | undefined): LiveTurn | undefined =>
      messageId === undefined ? undefined : byMessage.get(compositeKey(key, messageId)),

    byId: (turnId: string): LiveTurn | undefined => byId.get(turnId),

    begin(turn: Turn, caller: Caller | null): LiveTurn {
      const since = db.mark();
      const flush = () => db.flush(since);
      const { conversation_key, message_id } = turn.envelope;
      const key = message_id === undefined ? null : compositeKey(conversation_key, message_id);
      const end = () => {
        byId.delete(turn.id);
        if (key !== null) byMessage.delete(key);
      };
      const broadcast = createBroadcast(flush);
      const acceptance = createAcceptance(flush, () => live.turn.id);
      const live: LiveTurn = {
        turn,
        isRunning: false,
        result: pending,
        flush,
        follow(answer) {
          answer.then(
            (handled) => acceptance.isAccepted() && watches.ended(live, () => endingOf(handled)),
            (error: unknown) => {
              if (acceptance.isAccepted() && !isClosed()) watches.ended(live, () => failureOf(live.turn, error));
            },
          );
          return (live.result = answer.finally(end));
        },
        ...broadcast,
        isAccepted: acceptance.isAccepted,
        accepted() {
          acceptance.accepted();
          watches.accepted(live);
        },
        attach(caller) {
          broadcast.attach(caller);
          acceptance.await(caller);
        },
      };
      if (caller !== null) live.attach(caller);
      if (key !== null) byMessage.set(key, live);
      byId.set(turn.id, live);
      return live;
    },

    acceptedOf,
    holdersOf: (key: string, messageId: string) => acceptedOf(key).filter(({ turn }) => holds(turn, messageId)),

    count: () => byId.size,
  };
}

function endingOf({ outcome, actions }: HandleResult) {
  const files = filesOf(actions).map(({ path, name, mime }) => ({ path, name, mime }));
  return { outcome, text: textOf(actions), ...(files.length > 0 && { files }) };
}
const failureOf = ({ requestId }: Turn, error: unknown) => ({
  outcome: null,
  text: '',
  error: toServiceError(error).toBody(requestId),
});

const pending = new Promise<HandleResult>(() => undefined);

type Broadcast = Pick<LiveTurn, 'tools' | 'sink' | 'attach' | 'hasCaller' | 'audience' | 'said' | 'asked' | 'watch' | 'unwatch'>;

/**
 * Frames for any number of callers. The first frame waits until the acceptance is committed: whoever sees anything of a
 * turn can rely on its being kept. A caller that joins later gets the text so far in one piece.
 */
function createBroadcast(flush: () => Promise<void>): Broadcast {
  const tools: ToolUse[] = [];
  const callers: Caller[] = [];
  const late: TurnSink[] = [];
  const held: TurnProgress[] = [];
  /** Watchers of the conversation are not callers: the turn does not wait for them. */
  let watcher: TurnSink | null = null;
  let startWatch = () => undefined as void;
  let said = '';
  /** The question that is open. */
  let asked: Extract<TurnProgress, { type: 'ask' }> | null = null;
  let state: 'unwatched' | 'held' | 'open' = 'unwatched';

  const send = (frame: TurnProgress) => {
    if (frame.type === 'delta') said += frame.text;
    else if (frame.type === 'retract') said = '';
    else if (frame.type === 'ask') asked = frame;
    else if (frame.type === 'asked') asked = null;
    if (state === 'open') for (const caller of callers) caller.sink?.(frame);
    watcher?.(frame);
  };
  /** Sends a late caller what it has missed. */
  const show = (sink: TurnSink) => {
    if (said !== '') sink({ type: 'delta', text: said });
    if (asked !== null) sink(asked);
  };
  const release = () => {
    state = 'open';
    startWatch();
    for (const sink of late) show(sink);
    for (const frame of held.splice(0)) send(frame);
  };
  const hold = () => {
    state = 'held';
    flush().then(release, () => undefined); // a turn that cannot be stored is not shown; its end fails and says why
  };
  return {
    tools,
    sink(frame) {
      if (frame.type === 'tool' || frame.type === 'tool_result') noteTool(tools, frame);
      if (state === 'unwatched' && callers.some(({ sink }) => sink !== null)) hold();
      if (state === 'held') held.push(frame);
      else send(frame);
    },
    attach(caller) {
      callers.push(caller);
      if (caller.sink === null || (said === '' && asked === null)) return;
      if (state === 'open') return show(caller.sink);
      late.push(caller.sink);
      if (state === 'unwatched') hold();
    },
    hasCaller: () => callers.some((caller) => !caller.isGone()),
    audience() {
      const here = callers.filter((caller) => !caller.isGone());
      return here.length === 0 ? 'nobody' : here.some(({ showsAsks }) => showsAsks === true) ? 'shown' : 'unshown';
    },
    said: () => said,
    asked: () => asked,
    watch(start) {
      startWatch = () => (watcher = start());
      if (state === 'open') startWatch();
      else if (state === 'unwatched') hold();
    },
    unwatch() {
      watcher = null;
      startWatch = () => undefined;
    },
  };
}

/** Tells callers that a turn is safe in the journal. */
function createAcceptance(flush: () => Promise<void>, turnId: () => string) {
  const waiting: Caller[] = [];
  let isInJournal = false;
  let isSafe = false;
  const tell = () => {
    isSafe = true;
    for (const caller of waiting.splice(0)) caller.onAccepted?.(turnId());
  };
  return {
    isAccepted: () => isInJournal,
    await(caller: Caller): void {
      if (caller.onAccepted === undefined) return;
      waiting.push(caller);
      if (isSafe) tell();
      else if (isInJournal) flush().then(tell, () => undefined);
    },
    accepted(): void {
      isInJournal = true;
      // A turn that cannot be stored is not accepted; its end fails and says why.
      if (waiting.length > 0) flush().then(tell, () => undefined);
    },
  };
}

/** Further ones are not recorded: a turn may call thousands. */
const maxTools = 100;

/** A result belongs to the newest call with its id that has none yet. */
function noteTool(tools: ToolUse[], frame: Extract<TurnProgress, { type: 'tool' | 'tool_result' }>): void {
  if (frame.type === 'tool') {
    if (tools.length < maxTools) tools.push({ id: frame.id, name: frame.name, ok: null });
    return;
  }
  const called = tools.findLast(({ id, ok }) => id === frame.id && ok === null);
  if (called !== undefined) called.ok = frame.ok;
}
