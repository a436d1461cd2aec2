import type { AskAnswer, OpenAsk } from '@svc/contract/ask.ts';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';

/** An open question. `public`: other people see it too. */
export type KeptAsk = OpenAsk & { public: boolean };

/** The result of an answer: it counts, the question was closed already, or it never existed. */
export type AnswerOutcome = 'taken' | 'over' | 'unknown';

/** The open questions. Each is closed once, by the first answer. */
export interface OpenAsks {
  /** Resolves with the answer when the question is closed. */
  open(ask: KeptAsk): Promise<AskAnswer>;
  /** The first answer closes the question. `key`: its conversation; in any other the question is unknown. */
  answer(id: string, key: string, option: string): AnswerOutcome;
  /** Denies a question. Does nothing when it is closed. */
  deny(id: string, outcome: Exclude<AskAnswer['outcome'], 'answered'>): void;
  find(id: string): KeptAsk | undefined;
  /** Whether this conversation had this question, as far as closed ones are remembered. */
  isOver(id: string, key: string): boolean;
  /** The open questions, oldest first. */
  list(): KeptAsk[];
  inConversation(key: string): KeptAsk[];
}

/** How many closed questions are remembered. */
const mostClosed = 1000;

type Entry = { ask: KeptAsk; close: (answer: AskAnswer) => void };

export function createOpenAsks(): OpenAsks {
  const open = new Map<string, Entry>();
  /** Conversations of closed questions, by id. */
  const closed = new Map<string, string>();

  const close = (id: string, answer: AskAnswer): boolean => {
    const entry = open.get(id);
    if (entry === undefined) return false;
    open.delete(id);
    closed.set(id, entry.ask.conversation_key);
    forgetOldest(closed, mostClosed);
    entry.close(answer);
    return true;
  };
  const asks = () => Array.from(open.values(), ({ ask }) => ask);

  return {
    open: (ask) => new Promise((resolve) => open.set(ask.id, { ask, close: resolve })),
    answer(id, key, option) {
      const entry = open.get(id);
      if (entry === undefined) return closed.get(id) === key ? 'over' : 'unknown';
      if (entry.ask.conversation_key !== key || !entry.ask.options.some((one) => one.id === option)) return 'unknown';
      close(id, { option, outcome: 'answered' });
      return 'taken';
    },
    deny: (id, outcome) => void close(id, { option: null, outcome }),
    isOver: (id, key) => closed.get(id) === key,
    find: (id) => open.get(id)?.ask,
    list: asks,
    inConversation: (key) => (open.size === 0 ? [] : asks().filter((ask) => ask.conversation_key === key)),
  };
}
