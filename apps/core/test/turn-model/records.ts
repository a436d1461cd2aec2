import type { Habit, Showing } from './steps.ts';

/** One engine run of a message. */
export type Run = {
  life: number;
  reply: string;
  isResumed: boolean;
  /** Its place among all runs. */
  order: number;
  hasEnded: boolean;
  toldToEndAt: number | null;
};

/** A sender's message, or an operator's. Its text is its name, so that everything said of it can be found. */
export type Message = {
  name: string;
  kind: 'message' | 'inject';
  key: string;
  sender: string;
  isRouted: boolean;
  isNamed: boolean;
  isGathered: boolean;
  habit: Habit;
  /** Its place among all that arrived; a new one when it is sent again after a failure. */
  arrival: number;
  runs: Run[];
  /** Runs since it was accepted, or taken up again after a failure, and in this life of the core. */
  runsAccepted: Run[];
  runsThisLife: number;
  /** A caller has seen something of it; a caller has seen it run. */
  isKnown: boolean;
  isKnownToRun: boolean;
  asks: Ask[];
  /** Replies the channel has shown because a connector was asked to. */
  shown: string[];
  /** It was shown, and then the core was away for so long that it may have missed it. */
  isUnheard: boolean;
  /** Messages of the key that began since an operator's words were put in. */
  overtakenBy: number;
  mayBeOvertakenBy: number;
  wasAborted: boolean;
  /** Codes it may fail with, because the engine did. */
  failures: Set<string>;
};

/** A caller who waits for an answer. */
export type Ask = {
  message: Message;
  /** Its place among all that were asked. */
  order: number;
  life: number;
  isLink: boolean;
  showing: Showing;
  isGone: boolean;
  state: 'open' | 'answered' | 'failed' | 'broken';
  outcome: string | null;
  error: string | null;
  turnId: string | null;
  /** The answer is here and the channel has not been asked to show it. */
  toShow: string | null;
  /** The running turn was told to end while this one waited, in a session that had this engine session. */
  abort: { life: number; engineSession: string | null } | null;
};

/** An announcement that was posted, and what arrived after it. */
export type Note = { text: string; target: string; arrival: number; seenBy: Map<string, { name: string; life: number }> };

export type Records = ReturnType<typeof createRecords>;

/** What happened, as the world outside the core knows it, and every rule that was seen broken. */
export function createRecords() {
  const messages: Message[] = [];
  const notes: Note[] = [];
  const broken: string[] = [];
  let arrivals = 0;
  let runs = 0;
  let asks = 0;

  return {
    messages,
    notes,
    broken,
    rule(isKept: boolean, rule: string): void {
      if (!isKept) broken.push(rule);
    },
    nextArrival: () => ++arrivals,
    lastArrival: () => arrivals,
    nextRun: () => ++runs,
    /** In the order they were asked. */
    asks: (): Ask[] => messages.flatMap((message) => message.asks).toSorted((a, b) => a.order - b.order),
    nextAsk: () => ++asks,
    find: (name: string): Message | undefined => messages.find((message) => message.name === name),

    add(facts: Pick<Message, 'kind' | 'key' | 'sender' | 'isRouted' | 'isNamed' | 'isGathered' | 'habit'>): Message {
      const message: Message = {
        ...facts,
        name: `${facts.kind === 'inject' ? 'words' : 'message'}${messages.length + 1}`,
        arrival: ++arrivals,
        runs: [],
        runsAccepted: [],
        runsThisLife: 0,
        isKnown: false,
        isKnownToRun: false,
        asks: [],
        shown: [],
        isUnheard: false,
        overtakenBy: 0,
        mayBeOvertakenBy: 0,
        wasAborted: false,
        failures: new Set(),
      };
      messages.push(message);
      return message;
    },
  };
}
