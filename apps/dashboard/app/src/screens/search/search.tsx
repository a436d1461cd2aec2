import { plural, t } from '@svc/chat-ui/language/t.ts';
import type { SearchAnswer, SearchedSession } from '@svc/contract/insights.ts';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { withQuery } from '../../parts/api.ts';
import { fullTime, relativeTime } from '../../parts/format.ts';
import { Empty, Loaded, Page } from '../../parts/page.tsx';
import { useApi } from '../../parts/query.ts';
import { type People, usePeople } from '../../parts/use-people.ts';

const dayMs = 86_400_000;
const spans = { '1': t('The last day'), '7': t('The last week'), '31': t('The last month'), '': t('Any time') } as const;

/** Full-text search in all sessions. Words and time are in the address. */
export function SearchScreen() {
  const { q, days } = useSearch({ from: '/search' });
  const navigate = useNavigate({ from: '/search' });
  const [words, setWords] = useState(q);
  const people = usePeople();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  // Going back, and a search from the palette, change the address alone.
  useEffect(() => setWords(q), [q]);
  // Rounded, so that repeated searches have the same address.
  const since = days === '' ? null : Math.floor((Date.now() - Number(days) * dayMs) / 3_600_000) * 3_600_000;
  const query = useApi<SearchAnswer>(q.trim() === '' ? null : withQuery('/collector/api/search', { q, since, limit: 100 }));
  const look = (more: { q?: string; days?: string }) => void navigate({ search: { q, days, ...more } });
  return (
    <Page title={t('Search')}>
      <form
        className="filters"
        role="search"
        aria-label={t('Everything that was said')}
        onSubmit={(event) => {
          event.preventDefault();
          look({ q: words.trim() });
        }}
      >
        <input
          ref={input}
          type="search"
          aria-label={t('Words to find')}
          placeholder={t('several words, "in a row", begin*, -without')}
          maxLength={500}
          value={words}
          onChange={({ target }) => setWords(target.value)}
        />
        <select aria-label={t('When')} value={days} onChange={({ target }) => look({ days: target.value })}>
          {Object.entries(spans).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
        <button type="submit" className="primary" disabled={words.trim() === ''}>
          <Search aria-hidden size={16} /> {t('Search')}
        </button>
      </form>
      {q.trim() !== '' && (
        <Loaded query={query}>
          {({ sessions, hits, capped, complete }) => (
            <>
              <p className="muted small" role="status">
                {t('{events} in {sessions}.', {
                  events: plural(hits, '{n} event', '{n} events'),
                  sessions: plural(sessions.length, '{n} session', '{n} sessions'),
                })}
                {capped && ` ${t('Older ones were not searched: narrow the time or the words.')}`}
                {!complete && ` ${t('The newest events are still being taken into the index.')}`}
              </p>
              {sessions.length === 0 ? (
                <Empty title={t('No event has all these words')}>
                  <p>{t('Try fewer words, another time, or a beginning such as begin*.')}</p>
                </Empty>
              ) : (
                <ul className="rows-list">
                  {sessions.map((session) => (
                    <Found key={session.conversation_key} session={session} people={people} />
                  ))}
                </ul>
              )}
            </>
          )}
        </Loaded>
      )}
    </Page>
  );
}

function Found({ session, people }: { session: SearchedSession; people: People }) {
  const { conversation_key: key, title, surface, hits, last_hit_at: at, snippet, highlights } = session;
  return (
    <li>
      <Link to="/sessions/$key" params={{ key }} search={{ tab: '', find: firstPlace(snippet, highlights) }} className="row-link">
        {title ?? key}
      </Link>
      <p className="snippet">{marked(snippet, highlights)}</p>
      <p className="muted small">
        {[surface, people.nameIn(session), hits === 1 ? null : plural(hits, '{n} event', '{n} events')]
          .filter(Boolean)
          .join(' · ')}
        {' · '}
        <time dateTime={new Date(at).toISOString()} title={fullTime(at)}>
          {relativeTime(at)}
        </time>
      </p>
    </li>
  );
}

/** The first match as written, adjacent words together. The session is opened there. */
function firstPlace(text: string, places: readonly [number, number][]): string {
  const from = places[0]?.[0] ?? 0;
  let end = places[0]?.[1] ?? 0;
  for (const [next, to] of places.slice(1)) {
    if (text.slice(end, next).trim() !== '') break;
    end = to;
  }
  return text.slice(from, end);
}

/** The text with its matches marked. Positions are in characters of the original text. */
function marked(text: string, places: readonly [number, number][]) {
  const parts = [];
  let end = 0;
  for (const [from, to] of places) {
    if (from < end || to <= from) continue;
    parts.push(text.slice(end, from), <mark key={from}>{text.slice(from, to)}</mark>);
    end = to;
  }
  return [...parts, text.slice(end)];
}
