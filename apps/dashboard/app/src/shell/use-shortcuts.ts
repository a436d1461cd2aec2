import { isComposing } from '@svc/chat-ui/view/is-composing.ts';
import { useEffect, useRef } from 'react';
import { destinations } from './destinations.ts';
import { hasLetterKeys } from './letter-keys.ts';

export type Commands = {
  palette(): void;
  help(): void;
  go(to: string): void;
  search(): void;
  /** Goes to the session before (−1) or after (1) the one that is shown. */
  step(by: 1 | -1): void;
};

/** How long after `g` a letter still opens a screen. */
const letterMs = 1500;

/** The shortcuts of every screen. All are off while a dialog is open; letters are off in text fields. */
export function useShortcuts(commands: Commands): void {
  const current = useRef(commands);
  current.current = commands;
  useEffect(() => {
    let begunAt = -Infinity;
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || isComposing(event) || document.querySelector('dialog[open]') !== null) return;
      const run = commandOf(event, event.timeStamp - begunAt < letterMs);
      begunAt = run === 'begin' ? event.timeStamp : -Infinity;
      if (run === null || run === 'begin') return;
      event.preventDefault();
      run(current.current);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

type Run = (commands: Commands) => void;

/** What a key does; `begin`: the next letter decides. */
function commandOf(event: KeyboardEvent, isAfterG: boolean): Run | 'begin' | null {
  const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
  const isControl = ctrlKey || metaKey;
  if (isControl) return key.toLowerCase() === 'k' && !altKey && !shiftKey ? ({ palette }) => palette() : null;
  if (altKey) return key === 'ArrowUp' || key === 'ArrowDown' ? ({ step }) => step(key === 'ArrowUp' ? -1 : 1) : null;
  if (isWriting(event.target) || !hasLetterKeys()) return null;
  const destination = isAfterG ? destinations.find(({ letter }) => letter === key) : undefined;
  if (destination !== undefined) return ({ go }) => go(destination.to);
  if (key === 'g') return 'begin';
  if (key === '?') return ({ help }) => help();
  return key === '/' ? ({ search }) => search() : null;
}

const isWriting = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('input, textarea, select, [contenteditable]') !== null;
