import { createHash, randomBytes } from 'node:crypto';
import type { ToolCaller } from './tool-caller.ts';

type Conversation = { token: string; digest: string; caller: ToolCaller | null };

/** The number of conversations without a running turn whose tokens are remembered. */
const maxIdle = 1000;

/**
 * One token for each conversation, so that an engine that stays open can keep its header. It is valid only while a turn of the conversation
 * runs, and stands for that turn's caller: with the token of an owner's turn, a guest's turn can do no more than a guest.
 */
export type TurnTokens = {
  /** The part of every token to mask. */
  readonly secret: string;
  /** The token of the conversation; from now on, until `ended` aborts, it stands for this caller. */
  begin(key: string, caller: ToolCaller, ended: AbortSignal): string;
  /** The caller whose running turn a token belongs to. Looked up by digest, so that timing reveals nothing about the tokens. */
  callerOf(token: string): ToolCaller | null;
  /** Every conversation without a running turn gets a new token next time. */
  forgetIdle(): void;
  live(): number;
  count(): number;
};

export function createTurnTokens(): TurnTokens {
  // The prefix of every token: masking it masks the token, and the rest is worthless without it.
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
      byKey.delete(key); // reinserted, so that the most recently used comes last
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
