import { useCallback, useEffect, useState } from 'react';
import type { Conversation } from '../../state/conversation.ts';

/** Pages of older messages that are read for one search, unless more is asked for. */
const maxPages = 20;

type Older = { isReading: boolean; hasMore: boolean; readOn(): void };

/** Reads older messages while something is looked for: what is not here cannot be found. */
export function useOlder(conversation: Conversation, loadOlder: () => Promise<void>, isSought: boolean): Older {
  const [state, setState] = useState<'idle' | 'reading' | 'paused' | 'all'>('idle');
  const [round, setRound] = useState(0);

  useEffect(() => {
    if (!isSought) return;
    let isWanted = true;
    const read = async () => {
      setState('reading');
      for (let page = 0; page < maxPages; page += 1) {
        const before = conversation.keys().length;
        await loadOlder();
        if (!isWanted) return;
        if (conversation.keys().length === before) return setState('all');
      }
      setState('paused');
    };
    void read();
    return () => {
      isWanted = false;
    };
  }, [conversation, loadOlder, isSought, round]);

  const readOn = useCallback(() => setRound((before) => before + 1), []);
  return { isReading: isSought && state === 'reading', hasMore: isSought && state === 'paused', readOn };
}
