import { useCallback, useEffect, useRef, useState } from 'react';

/**
 * Ctrl or ⌘ with F, wherever the focus is while a conversation is shown; again while one is looking for something, it is the browser's own. The
 * focus goes back to where it was. `sought`: what the page was opened to find. `asked`: how often it was asked for; 0: not open.
 */
export function useFind(sought: string): { asked: number; close(): void } {
  const [asked, setAsked] = useState(sought === '' ? 0 : 1);
  const before = useRef<Element | null>(null);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isFind = event.key.toLowerCase() === 'f' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
      if (!isFind || event.defaultPrevented || document.querySelector('dialog[open]') !== null) return;
      const focused = document.activeElement;
      if (focused?.closest('.find') != null) return;
      event.preventDefault();
      before.current = focused;
      setAsked((times) => times + 1);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);

  const close = useCallback(() => {
    setAsked(0);
    if (before.current instanceof HTMLElement && before.current.isConnected) before.current.focus();
  }, []);
  return { asked, close };
}
