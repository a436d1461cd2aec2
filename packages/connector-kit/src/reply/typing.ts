import type { Clock } from '@svc/service-kit/clock.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { ChatGate } from './chat-gate.ts';
import { faultOf } from './write-fault.ts';

export type TypingOptions = {
  clock: Clock;
  gate: ChatGate;
  /** Shows the indicator once. */
  post(chat: string): Promise<unknown>;
  /** How often to show it again, ms: a little less than the platform shows it. */
  everyMs: number;
  /** A turn that is answered within this time shows none, ms. Default: 1,000. */
  afterMs?: number;
  /** Longest time that a turn shows it, ms. Default: half an hour. */
  maxMs?: number;
  log(level: 'debug', message: string, fields?: object): void;
};

/** A turn that is being answered. */
export type TypingTurn = {
  /** A part of the answer was shown, so the indicator is not needed for a while. */
  shown(): void;
  end(): void;
};

/** Shows the typing indicator in a chat while turns work there and nothing has been shown for a while. */
export type Typing = { begin(chat: string): TypingTurn };

type Chat = { turns: Set<TypingTurn>; cancel: () => void };

/**
 * A turn that ends, or never ends, leaves nothing behind. After a platform's refusal, the indicator is not tried again until the next turn.
 */
export function createTyping({ clock, gate, post, everyMs, afterMs = 1000, maxMs = 30 * 60_000, log }: TypingOptions): Typing {
  const chats = new Map<string, Chat>();

  function schedule(id: string, chat: Chat, ms: number): void {
    chat.cancel();
    chat.cancel = clock.after(ms, () => void show(id, chat));
  }

  async function show(id: string, chat: Chat): Promise<void> {
    try {
      const isShown = await gate.offer(id, () => post(id));
      if (chat.turns.size > 0) schedule(id, chat, isShown ? everyMs : Math.min(everyMs, 1000));
    } catch (error) {
      log('debug', 'the typing indicator could not be shown', { error: errorText(error) });
      if (chat.turns.size > 0 && faultOf(error) !== 'refused') schedule(id, chat, everyMs);
    }
  }

  function end(id: string, chat: Chat, turn: TypingTurn): void {
    if (!chat.turns.delete(turn) || chat.turns.size > 0) return;
    chat.cancel();
    chats.delete(id);
  }

  return {
    begin(id) {
      const chat = chats.get(id) ?? { turns: new Set(), cancel: () => undefined };
      if (chat.turns.size === 0) {
        chats.set(id, chat);
        schedule(id, chat, afterMs);
      }
      const turn: TypingTurn = {
        shown: () => chat.turns.has(turn) && schedule(id, chat, everyMs),
        end() {
          cancelLimit();
          end(id, chat, turn);
        },
      };
      const cancelLimit = clock.after(maxMs, () => end(id, chat, turn));
      chat.turns.add(turn);
      return turn;
    },
  };
}
