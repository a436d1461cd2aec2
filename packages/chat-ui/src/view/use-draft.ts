import { useCallback, useEffect, useRef, useState } from 'react';
import type { Drafts } from '../outbox/drafts.ts';

type First = {
  /** Stands there when nothing was kept. */
  proposed?: string;
  /** Stands there whatever was kept: the page was opened with it. */
  shared?: string;
};

type Draft = [
  text: string,
  setText: (text: string) => void,
  /** Has words that were not sent come back, before what was typed since. */
  putBack: (words: string) => void,
];

/** What is being written, kept at each change as a draft of its conversation: a page can go at any time, and is not always told before. */
export function useDraft(drafts: Drafts, name: string, { proposed = '', shared = '' }: First = {}): Draft {
  const [text, setText] = useState(shared === '' ? proposed : shared);
  const typed = useRef(shared !== '');
  const newest = useRef(text);

  useEffect(() => {
    // A browser that keeps nothing has no drafts.
    drafts.read(name).then(
      (kept) => {
        if (typed.current || kept === '') return;
        newest.current = kept;
        setText(kept);
      },
      () => undefined,
    );
  }, [drafts, name]);

  const change = useCallback(
    (next: string) => {
      typed.current = true;
      newest.current = next;
      setText(next);
      drafts.write(name, next).catch(() => undefined);
    },
    [drafts, name],
  );
  const putBack = useCallback((words: string) => change(joined(words, newest.current)), [change]);
  return [text, change, putBack];
}

const joined = (words: string, since: string): string => [words, since].filter((part) => part.trim() !== '').join('\n\n');
