import { useSyncExternalStore } from 'react';
import type { Conversation } from '../state/conversation.ts';
import type { Turn } from '../state/turn.ts';

/** The keys of a conversation's turns; renders when one comes or goes. */
export const useKeys = (conversation: Conversation): readonly string[] =>
  useSyncExternalStore(conversation.subscribe, conversation.keys);

/** One turn; renders when it changes, and for no other. */
export const useTurn = (conversation: Conversation, key: string): Turn | undefined =>
  useSyncExternalStore(conversation.subscribe, () => conversation.turn(key));

export const useRunning = (conversation: Conversation): boolean =>
  useSyncExternalStore(conversation.subscribe, conversation.isRunning);
