import { useEffect, useState } from 'react';
import { t } from '../language/t.ts';
import type { Conversation } from '../state/conversation.ts';
import { isOver, type Phase } from '../state/turn.ts';

const endings: Partial<Record<Phase, string>> = {
  done: t('Answer ready'),
  stopped: t('Stopped'),
  silent: t('No reply'),
  failed: t('The turn failed'),
};

/** Announces to screen readers that an answer begins and that it is ready, and no word of it in between. */
export function Announcer({ conversation }: { conversation: Conversation }) {
  const [words, setWords] = useState('');
  useEffect(() => {
    const told = new Map<string, 'runs' | 'began' | 'over'>();
    const look = () => {
      for (const key of conversation.keys().slice(-5)) {
        const turn = conversation.turn(key);
        if (turn === undefined) continue;
        const before = told.get(key);
        if (isOver(turn)) {
          told.set(key, 'over');
          // What had ended before it was seen here is no news.
          if (before === 'runs' || before === 'began') setWords(endings[turn.phase] ?? '');
        } else if (turn.phase === 'writing' && before !== 'began') {
          told.set(key, 'began');
          setWords(t('Answer begins'));
        } else if (before === undefined) {
          told.set(key, 'runs');
          // The same words as before would be no change, and not be heard.
          setWords('');
        }
      }
    };
    look();
    return conversation.subscribe(look);
  }, [conversation]);
  return (
    <div role="status" className="unseen">
      {words}
    </div>
  );
}
