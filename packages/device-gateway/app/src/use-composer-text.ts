import { useCallback, useEffect, useRef, useState } from 'react';
import type { ChatSession } from './chat-session.ts';

const writeMs = 300;

/** What is being written, kept as a draft of its conversation. `shared` comes first, where the app was opened with it. */
export function useComposerText({ drafts, draftName }: ChatSession, shared: string): [string, (text: string) => void] {
  const [text, setText] = useState(shared);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  /** What is not written yet. */
  const unkept = useRef<(() => void) | null>(null);
  const typed = useRef(shared !== '');

  useEffect(() => {
    // A browser that keeps nothing has no drafts.
    drafts.read(draftName).then(
      (kept) => typed.current || setText(kept),
      () => undefined,
    );
  }, [drafts, draftName]);

  const change = useCallback(
    (next: string) => {
      typed.current = true;
      setText(next);
      clearTimeout(timer.current);
      const keep = () => {
        unkept.current = null;
        drafts.write(draftName, next).catch(() => undefined);
      };
      unkept.current = keep;
      // What was sent is no draft any more, whatever happens next.
      if (next === '') keep();
      else timer.current = setTimeout(keep, writeMs);
    },
    [drafts, draftName],
  );
  useEffect(() => {
    const keepNow = () => unkept.current?.();
    addEventListener('pagehide', keepNow);
    return () => removeEventListener('pagehide', keepNow);
  }, []);
  return [text, change];
}
