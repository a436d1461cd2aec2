import { ChevronDown, ChevronUp, X } from 'lucide-react';
import {
  type KeyboardEvent,
  type RefObject,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { t } from '../../language/t.ts';
import type { Conversation } from '../../state/conversation.ts';
import { isComposing } from '../is-composing.ts';
import { findMatches, type Match, placeOf } from './find-matches.ts';
import { mark, rangesIn, unmark } from './mark-matches.ts';
import { useOlder } from './use-older.ts';

export type FindProps = {
  conversation: Conversation;
  /** What scrolls, with a `[data-index]` for each row that is in sight. */
  box: RefObject<HTMLElement | null>;
  /** Brings the row into sight. */
  scrollTo(index: number): void;
  loadOlder(): Promise<void>;
  /** What it looks for at first. */
  sought: string;
  /** With another number it was asked for once more. */
  asked: number;
  onClose(): void;
};

/** How long a place is kept in sight, ms: its row is measured, and older messages that come move it. */
const longestMs = 10_000;
/** By which a person leaves the place. */
const ownMoves = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const;
const numbers = new Intl.NumberFormat();

/** Finds words in all of a conversation, also where nothing of it is on the page. */
export function FindBar({ conversation, box, scrollTo, loadOlder, sought, asked, onClose }: FindProps) {
  const input = useRef<HTMLInputElement>(null);
  const [words, setWords] = useState(sought);
  const [chosen, setChosen] = useState<Match | null>(null);
  const matches = useMatches(conversation, useDeferredValue(words));
  const older = useOlder(conversation, loadOlder, words.trim() !== '');
  const at = placeOf(matches, chosen);
  const match = matches[at];

  useEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, [asked]);
  useMarks({ conversation, box, scrollTo, match, words });

  const step = (by: 1 | -1) => setChosen(matches[(at + by + matches.length) % matches.length] ?? null);
  const onKey = (event: KeyboardEvent) => {
    if (isComposing(event.nativeEvent) || (event.key !== 'Escape' && event.key !== 'Enter')) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === 'Escape') onClose();
    else if (event.target === input.current && matches.length > 0) step(event.shiftKey ? -1 : 1);
    else if (event.target instanceof HTMLButtonElement) event.target.click();
  };
  return (
    <div role="search" aria-label={t('This conversation')} className="find" onKeyDown={onKey}>
      <input
        ref={input}
        type="search"
        aria-label={t('Find in this conversation')}
        placeholder={t('Find in this conversation')}
        autoComplete="off"
        value={words}
        onChange={({ target }) => {
          setWords(target.value);
          setChosen(null);
        }}
      />
      <span role="status" className="find-count">
        {words.trim() === ''
          ? ''
          : matches.length === 0
            ? t('Not found')
            : t('{place} of {all}', { place: numbers.format(at + 1), all: numbers.format(matches.length) })}
        {older.isReading && ' …'}
      </span>
      <button
        type="button"
        className="icon"
        aria-label={t('Previous match')}
        disabled={matches.length === 0}
        onClick={() => step(-1)}
      >
        <ChevronUp aria-hidden size={20} />
      </button>
      <button type="button" className="icon" aria-label={t('Next match')} disabled={matches.length === 0} onClick={() => step(1)}>
        <ChevronDown aria-hidden size={20} />
      </button>
      <button type="button" className="icon" aria-label={t('Close the search')} onClick={onClose}>
        <X aria-hidden size={20} />
      </button>
      {older.hasMore && (
        <button type="button" className="quiet find-older" onClick={older.readOn}>
          {t('Search older messages')}
        </button>
      )}
    </div>
  );
}

/** Changes as the conversation does, at the pace at which it is shown. */
function useMatches(conversation: Conversation, words: string): readonly Match[] {
  const version = useRef({});
  const state = useSyncExternalStore(
    useMemo(
      () => (listener: () => void) =>
        conversation.subscribe(() => {
          version.current = {};
          listener();
        }),
      [conversation],
    ),
    () => version.current,
  );
  return useMemo(() => (state === null ? [] : findMatches(conversation, words)), [conversation, words, state]);
}

type Marked = Pick<FindProps, 'conversation' | 'box' | 'scrollTo'> & { match: Match | undefined; words: string };

/** Brings the match into sight, and marks what is there of all of them. */
function useMarks({ conversation, box, scrollTo, match, words }: Marked): void {
  const key = match?.key;
  const nth = match?.nth ?? 0;
  const sought = words.trim().toLowerCase();
  const go = useRef(scrollTo);
  go.current = scrollTo;

  useEffect(() => {
    const element = box.current;
    if (element === null || key === undefined || sought === '') return unmark();
    // Older messages that come move it.
    const indexOf = () => conversation.keys().indexOf(key);
    const rowOf = () => element.querySelector(`[data-index="${indexOf()}"]`);
    let frame = 0;
    const paint = () => {
      const rows = [...element.querySelectorAll('[data-index]')];
      const own = rowOf();
      const ranges = own === null ? [] : rangesIn(own, sought);
      const current = ranges[Math.min(nth, ranges.length - 1)];
      mark(
        rows.flatMap((row) => rangesIn(row, sought)),
        current,
      );
      return { own, current };
    };
    const until = performance.now() + longestMs;
    let isLeft = false;
    /** What is put above it, or measured, moves it, also after it stood: it is gone to again. Not against a person who scrolls on. */
    const look = () => {
      frame = 0;
      const { own, current } = paint();
      if (isLeft || performance.now() >= until) return;
      if (own === null) go.current(indexOf());
      if (own === null || bringIntoSight(element, current ?? own)) lookSoon();
    };
    const lookSoon = () => {
      if (frame === 0) frame = requestAnimationFrame(look);
    };
    look();
    // Rows come and go while one scrolls, and are numbered again when older ones come.
    const paintAgain = () => {
      if (isLeft || performance.now() >= until) paint();
      else lookSoon();
    };
    element.addEventListener('scroll', paintAgain);
    const rows = new MutationObserver(paintAgain);
    rows.observe(element, { subtree: true, childList: true, attributeFilter: ['data-index'] });
    const leave = ({ target }: Event) => {
      isLeft ||= !(target instanceof Element) || target.closest('.find') === null;
    };
    for (const name of ownMoves) document.addEventListener(name, leave, { capture: true, passive: true });
    return () => {
      cancelAnimationFrame(frame);
      element.removeEventListener('scroll', paintAgain);
      rows.disconnect();
      for (const name of ownMoves) document.removeEventListener(name, leave, { capture: true });
      unmark();
    };
  }, [conversation, box, key, nth, sought]);
}

/** Whether it had to be moved. */
function bringIntoSight(box: HTMLElement, what: Range | Element): boolean {
  const place = what.getBoundingClientRect();
  const frame = box.getBoundingClientRect();
  const margin = Math.min(64, frame.height / 4);
  if (place.top >= frame.top + margin && place.bottom <= frame.bottom - margin) return false;
  const before = box.scrollTop;
  box.scrollTop += place.top - frame.top - frame.height / 2;
  return Math.abs(box.scrollTop - before) > 1;
}
