import type { Drafts } from '@svc/chat-ui/outbox/drafts.ts';
import { useCallback, useEffect, useRef, useState } from 'react';

const writeMs = 300;

/** What is being written, kept as a draft of its conversation. `first` stands there when nothing was kept. */
export function useDraft(drafts: Drafts, name: string, first = ''): [string, (text: string) => void] {
  const [text, setText] = useState(first);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const typed = useRef(false);

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
      clearTimeout(timer.current);
      const keep = () => void drafts.write(name, next).catch(() => undefined);
      // What was sent is no draft any more, whatever happens next.
      if (next === '') keep();
      else timer.current = setTimeout(keep, writeMs);
    },
    [drafts, name],
  );
  return [text, change];
}
