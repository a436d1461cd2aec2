import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown } from 'lucide-react';
import {
  type KeyboardEvent,
  lazy,
  type ReactNode,
  Suspense,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { t } from '../language/t.ts';
import type { Conversation } from '../state/conversation.ts';
import { useFind } from './find/use-find.ts';
import { type TurnActions, TurnView } from './turn-view.tsx';
import { useKeys } from './use-turn.ts';

const FindBar = lazy(async () => ({ default: (await import('./find/find-bar.tsx')).FindBar }));

type Props = {
  conversation: Conversation;
  assistant: string;
  actions: TurnActions;
  /** Called near the top; resolves when the page is there, or there is none. */
  loadOlder(): Promise<void>;
  empty: ReactNode;
  /** Words that the page was opened to find. */
  sought?: string;
};

/** So near to the end, what comes is followed. */
const nearEnd = 80;
const nearTop = 600;

/** The messages, of which only those in sight are there. Follows the end, but pulls nobody who reads or selects above it. */
export function Transcript({ conversation, assistant, actions, loadOlder, empty, sought = '' }: Props) {
  const keys = useKeys(conversation);
  const box = useRef<HTMLDivElement>(null);
  const [atEnd, setAtEnd] = useState(true);
  const loading = useRef(false);
  const list = useVirtualizer({
    count: keys.length,
    getScrollElement: () => box.current,
    estimateSize: () => 160,
    getItemKey: (index) => keys[index] ?? index,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: nearEnd,
    overscan: 4,
    paddingStart: 16,
    paddingEnd: 24,
  });

  const isThere = keys.length > 0;
  useLayoutEffect(() => {
    if (isThere) list.scrollToEnd();
  }, [list, isThere, conversation]);

  const look = useCallback(() => {
    const element = box.current;
    if (element === null) return;
    setAtEnd(element.scrollHeight - element.scrollTop - element.clientHeight <= nearEnd);
    if (element.scrollTop > nearTop || loading.current) return;
    loading.current = true;
    void loadOlder().finally(() => (loading.current = false));
  }, [loadOlder]);

  // Who marks text at the end keeps what is marked where it is.
  useEffect(() => {
    const element = box.current;
    const changed = () => {
      const selection = document.getSelection();
      const marks = selection !== null && !selection.isCollapsed && element?.contains(selection.anchorNode) === true;
      list.setOptions({ ...list.options, followOnAppend: !marks, anchorTo: marks ? 'start' : 'end' });
    };
    document.addEventListener('selectionchange', changed);
    return () => document.removeEventListener('selectionchange', changed);
  }, [list]);

  const { asked, close } = useFind(sought);
  const rows = list.getVirtualItems();
  return (
    <div className="transcript-frame">
      {asked > 0 && (
        <Suspense>
          <FindBar
            conversation={conversation}
            box={box}
            scrollTo={(index) => list.scrollToIndex(index, { align: 'center' })}
            loadOlder={loadOlder}
            sought={sought}
            asked={asked}
            onClose={close}
          />
        </Suspense>
      )}
      <div
        className="transcript"
        ref={box}
        onScroll={look}
        // A feed without an article is no feed.
        role={isThere ? 'feed' : 'region'}
        aria-label={t('Conversation')}
        aria-busy={false}
        tabIndex={0}
        onKeyDown={pageByArticle}
      >
        {!isThere && <div className="empty">{empty}</div>}
        <div className="rows" style={{ height: list.getTotalSize() }}>
          {rows.map(({ key, index, start }) => (
            <article
              key={key}
              ref={list.measureElement}
              data-index={index}
              className="row"
              style={{ transform: `translateY(${start}px)` }}
              tabIndex={-1}
              aria-posinset={index + 1}
              aria-setsize={keys.length}
              aria-label={t('Message {place} of {all}', { place: index + 1, all: keys.length })}
            >
              <TurnView conversation={conversation} id={keys[index] ?? ''} assistant={assistant} actions={actions} />
            </article>
          ))}
        </div>
      </div>
      {!atEnd && (
        <button type="button" className="to-end" onClick={() => list.scrollToEnd()}>
          <ArrowDown aria-hidden size={16} /> {t('Newest')}
        </button>
      )}
    </div>
  );
}

/** The keys of a feed: from article to article. */
function pageByArticle(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== 'PageUp' && event.key !== 'PageDown') return;
  const article = (event.target as Element).closest('article');
  const next = event.key === 'PageDown' ? article?.nextElementSibling : article?.previousElementSibling;
  if (!(next instanceof HTMLElement)) return;
  event.preventDefault();
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
}
