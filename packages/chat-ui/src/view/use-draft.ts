import { useCallback, useEffect, useRef, useState } from 'react';
import type { Drafts } from '../outbox/drafts.ts';

type First = {
  /** Stands there when nothing was kept. */
  proposed?: string;
  /** Stands there whatever was kept: the page was opened with it. */
  shared?: string;
};

/** What is being written, kept at each change as a draft of its conversation: a page can go at any time, and is not always told before. */
export function useDraft(
  drafts: Drafts,
  name: string,
  { proposed = '', shared = '' }: First = {},
): [string, (text: string) => void] {
  const [text, setText] = useState(shared === '' ? proposed : shared);
  const typed = useRef(shared !== '');

  useEffect(() => {
    // A browser that keeps nothing has no drafts.
    drafts.read(name).then(
      (kept) => typed.current || kept === '' || setText(kept),
      () => undefined,
    );
  }, [drafts, name]);

  const change = useCallback(
    (next: string) => {
      typed.current = true;
      setText(next);
      drafts.write(name, next).catch(() => undefined);
    },
    [drafts, name],
  );
  return [text, change];
}
