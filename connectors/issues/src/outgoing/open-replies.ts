import type { Envelope, OpenReply } from '@svc/connector-kit';

/** Replies that are being shown, by the name of what they answer. */
export type OpenReplies = {
  /** The message of a turn that has not ended. */
  running(name: string | undefined): Envelope | undefined;
  /** Login of who said it; null where that is not known. */
  askerOf(name: string | undefined): string | null;
  /** Whether a turn waits for an answer of a person there. */
  isAsked(target: string): boolean;
  watching(open: OpenReply, targetOf: (envelope: Envelope) => string): OpenReply;
};

type Entry = { envelope: Envelope; target: string; isRunning: boolean; asks: Set<string> };

export function createOpenReplies(): OpenReplies {
  const entries = new Map<string, Entry>();
  const find = (name: string | undefined) => (name === undefined ? undefined : entries.get(name));
  return {
    running(name) {
      const entry = find(name);
      return entry?.isRunning === true ? entry.envelope : undefined;
    },
    askerOf: (name) => find(name)?.envelope.sender.raw_username ?? null,
    isAsked: (target) => [...entries.values()].some((entry) => entry.target === target && entry.asks.size > 0),
    watching: (open, targetOf) => (envelope, turn) => {
      const reply = open(envelope, turn);
      const { message_id: name = '' } = envelope;
      const entry: Entry = { envelope, target: targetOf(envelope), isRunning: true, asks: new Set() };
      entries.set(name, entry);
      const ending = async (work: Promise<void>): Promise<void> => {
        entry.isRunning = false;
        entry.asks.clear();
        try {
          await work;
        } finally {
          if (entries.get(name) === entry) entries.delete(name);
        }
      };
      return {
        handlers: {
          ...reply.handlers,
          onAsk(ask) {
            entry.asks.add(ask.id);
            reply.handlers.onAsk?.(ask);
          },
          onAsked(id, answer) {
            entry.asks.delete(id);
            reply.handlers.onAsked?.(id, answer);
          },
        },
        finish: (result) => ending(reply.finish(result)),
        fail: (error) => ending(reply.fail(error)),
      };
    },
  };
}
