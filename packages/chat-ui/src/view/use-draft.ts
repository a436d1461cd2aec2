import { useCallback, useEffect, useRef, useState } from 'react';
import type { Drafts } from '../outbox/drafts.ts';

type First = {
  /** Initial text when there is no stored draft. */
  proposed?: string;
  /** Text that the page was opened with; it replaces a stored draft. */
  shared?: string;
};

type Draft = [
  text: string,
  setText: (text: string) => void,
  /** Puts unsent text back, in front of what was typed since. */
  putBack: (words: string) => void,
];

/**
 * The text being written, stored as the draft of its conversation at each change: a page can be closed at any time without
 * notice.
 */
export function useDraft(drafts: Drafts, name: string, { proposed = '', shared = '' }: First = {}): Draft {
  const [text, setText] = useState(shared === '' ? proposed : shared);
  const typed = useRef(shared !== '');
  const newest = useRef(text);

  useEffect(() => {
    // A browser without storage has no drafts.
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
