import { createHash, randomBytes } from 'node:crypto';
import type { ToolCaller } from './tool-caller.ts';

type Conversation = { token: string; digest: string; caller: ToolCaller | null };

/** Conversations whose token is remembered while none of their turns runs. */
const maxIdle = 1000;

/**
 * One token for each conversation, so that an engine that is kept open can keep its header. It means something only while
 * a turn of the conversation runs, and then always that turn's caller: with the token of an owner's turn a guest's turn
 * can do no more than a guest.
 */
export type TurnTokens = {
  /** What to mask. */
  readonly secret: string;
  /** The token of the conversation; from now on, until `ended` aborts, it stands for this caller. */
  begin(key: string, caller: ToolCaller, ended: AbortSignal): string;
  /** Whose running turn a token belongs to. By its digest, so that the time it takes says nothing of the tokens there are. */
  callerOf(token: string): ToolCaller | null;
  /** Every conversation without a running turn gets a new token the next time. */
  forgetIdle(): void;
  /** Conversations with a running turn. */
  live(): number;
  /** Conversations that have a token. */
  count(): number;
};

export function createTurnTokens(): TurnTokens {
  // In front of every token: who masks it has masked the token, and the rest is worth nothing without it.
  const secret = randomBytes(32).toString('base64url');
  const byKey = new Map<string, Conversation>();
  const byDigest = new Map<string, Conversation>();

  const forget = (key: string, { digest }: Conversation) => {
    byKey.delete(key);
    byDigest.delete(digest);
  };
  const open = (key: string): Conversation => {
    const token = `${secret}.${randomBytes(32).toString('base64url')}`;
    const conversation: Conversation = { token, digest: digestOf(token), caller: null };
    byDigest.set(conversation.digest, conversation);
    forgetOldest(key);
    return conversation;
  };
  const forgetOldest = (except: string) => {
    if (byKey.size <= maxIdle) return;
    for (const [key, conversation] of byKey) {
      if (conversation.caller !== null || key === except) continue;
      forget(key, conversation);
      return;
    }
  };

  return {
    secret,

    begin(key: string, caller: ToolCaller, ended: AbortSignal): string {
      const conversation = byKey.get(key) ?? open(key);
      byKey.delete(key); // the one that was used last stands last
      byKey.set(key, conversation);
      conversation.caller = ended.aborted ? null : caller;
      const end = () => {
        if (conversation.caller === caller) conversation.caller = null;
      };
      ended.addEventListener('abort', end, { once: true });
      return conversation.token;
    },

    callerOf: (token: string): ToolCaller | null => byDigest.get(digestOf(token))?.caller ?? null,

    forgetIdle(): void {
      for (const [key, conversation] of byKey) if (conversation.caller === null) forget(key, conversation);
    },

    live: (): number => [...byKey.values()].filter(({ caller }) => caller !== null).length,
    count: (): number => byKey.size,
  };
}

const digestOf = (token: string): string => createHash('sha256').update(token).digest('base64');
