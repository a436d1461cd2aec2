import { Rich } from '@svc/chat-ui/language/rich.tsx';
import { plural, t } from '@svc/chat-ui/language/t.ts';
import type { ListedSession } from '@svc/contract/session.ts';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { withQuery } from '../../parts/api.ts';
import { count, fullTime, money, relativeTime } from '../../parts/format.ts';
import { Empty, Loaded, Page } from '../../parts/page.tsx';
import { useApi } from '../../parts/query.ts';
import { SearchField } from '../../parts/search-field.tsx';
import { Status, type StatusKind } from '../../parts/status.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { titleOf } from '../../parts/title-of.ts';
import { type People, usePeople } from '../../parts/use-people.ts';
import { stateWords } from './state-words.ts';

const limit = 500;

/** All sessions of the core, terminals and transcripts, the newest first. Filters are in the address. */
export function Sessions() {
  const { active, channel, text } = useSearch({ from: '/sessions' });
  const navigate = useNavigate({ from: '/sessions' });
  const people = usePeople();
  const columns = useMemo(() => columnsWith(people), [people]);
  const query = useApi<{ sessions: ListedSession[] }>(
    withQuery('/collector/api/sessions', { limit, active: active === '1' ? '1' : null }),
    60_000,
    true,
  );
  const choose = (more: { active?: string; channel?: string; text?: string }) =>
    void navigate({ search: { active, channel, text, ...more }, replace: true });
  return (
    <Page title={t('Sessions')}>
      <Loaded query={query} rows={8}>
        {({ sessions }) => {
          const channels = [...new Set(sessions.map(channelOf))].toSorted();
          const shown = sessions.filter((session) => isWanted(session, channel, text, people));
          return (
            <>
              <form className="filters" role="search" aria-label={t('Sessions')} onSubmit={(event) => event.preventDefault()}>
                <SearchField
                  label={t('Title, person, model or folder')}
                  value={text}
                  onChange={(words) => choose({ text: words })}
                />
                <select aria-label={t('Channel')} value={channel} onChange={({ target }) => choose({ channel: target.value })}>
                  <option value="">{t('All channels')}</option>
                  {channels.map((name) => (
                    <option key={name}>{name}</option>
                  ))}
                </select>
                <label className="check">
                  <input
                    type="checkbox"
                    checked={active === '1'}
                    onChange={({ target }) => choose({ active: target.checked ? '1' : '' })}
                  />
                  {t('Only those working now')}
                </label>
              </form>
              <p className="muted small" role="status">
                {countWords(shown.length, sessions.length)}
              </p>
              {sessions.length === 0 && (
                <Empty title={t('No session yet')}>
                  <p>
                    <Rich
                      text="One begins when a person writes: {link}."
                      link={<Link to="/chat">{t('say something yourself')}</Link>}
                    />
                  </p>
                </Empty>
              )}
              {sessions.length > 0 && shown.length === 0 && (
                <Empty title={t('No session matches')}>
                  <button type="button" className="plain-button" onClick={() => choose({ active: '', channel: '', text: '' })}>
                    {t('Show all')}
                  </button>
                </Empty>
              )}
              {shown.length > 0 && (
                <Table caption={t('Sessions')} columns={columns} rows={shown} keyOf={({ conversation_key: key }) => key} />
              )}
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

function countWords(shown: number, all: number): string {
  const words =
    shown === all
      ? plural(all, '{n} shown', '{n} shown')
      : plural(shown, '{n} of {all} shown', '{n} of {all} shown', { all: count(all) });
  return all === limit ? t('{shown}; there are older ones: search finds them', { shown: words }) : words;
}

/** Tokens without a price are in no amount. */
function priceOf({ cost_usd: cost, unpriced }: ListedSession): string {
  if (cost === null) return t('unknown');
  return unpriced === 0 ? money(cost) : t('{price} and {n} without a price', { price: money(cost), n: count(unpriced) });
}

const channelOf = ({ surface, source }: ListedSession): string => surface ?? source;

function isWanted(session: ListedSession, channel: string, text: string, people: People): boolean {
  if (channel !== '' && channelOf(session) !== channel) return false;
  const { title, last_text: last, principal, identity, model, engine_id: engine, cwd, conversation_key: key } = session;
  const all = [title, last, people.nameIn(session), principal, identity, model, engine, cwd, key].join('\n').toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

const states: Record<ListedSession['state'], StatusKind> = { running: 'busy', idle: 'none', claimed: 'warn', ended: 'off' };

const columnsWith = (people: People): Column<ListedSession>[] => [
  {
    name: t('Session'),
    isMain: true,
    cell: (session) => (
      <Link to="/sessions/$key" params={{ key: session.conversation_key }} className="row-link">
        {titleOf(session)}
      </Link>
    ),
  },
  { name: t('State'), cell: ({ state }) => <Status kind={states[state]} words={stateWords[state]} /> },
  { name: t('Channel'), cell: channelOf },
  { name: t('Person'), cell: (session) => people.nameIn(session) ?? t('nobody') },
  { name: t('Model'), cell: ({ model, engine_id: engine }) => model ?? engine ?? t('not known') },
  { name: t('Folder'), cell: ({ repo, cwd }) => <span className="path">{repo ?? cwd ?? t('none')}</span> },
  { name: t('Turns'), isNumber: true, cell: ({ turns }) => count(turns) },
  { name: t('List price'), isNumber: true, cell: priceOf },
  {
    name: t('Last'),
    isNumber: true,
    cell: ({ last_event_at: at }) => (
      <time dateTime={new Date(at).toISOString()} title={fullTime(at)}>
        {relativeTime(at)}
      </time>
    ),
  },
];
