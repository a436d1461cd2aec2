import type { ListedSession } from '@svc/contract/session.ts';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { withQuery } from '../../parts/api.ts';
import { count, fullTime, money, relativeTime } from '../../parts/format.ts';
import { Empty, Loaded, Page } from '../../parts/page.tsx';
import { useApi } from '../../parts/query.ts';
import { Status, type StatusKind } from '../../parts/status.tsx';
import { type Column, Table } from '../../parts/table.tsx';

const limit = 500;

/** Who works where: every session of core, terminals and transcripts, the newest first. What is chosen stands in the address. */
export function Sessions() {
  const { active, channel, text } = useSearch({ from: '/sessions' });
  const navigate = useNavigate({ from: '/sessions' });
  const query = useApi<{ sessions: ListedSession[] }>(
    withQuery('/collector/api/sessions', { limit, active: active === '1' ? '1' : null }),
    60_000,
  );
  const choose = (more: { active?: string; channel?: string; text?: string }) =>
    void navigate({ search: { active, channel, text, ...more }, replace: true });
  return (
    <Page title="Sessions">
      <Loaded query={query} rows={8}>
        {({ sessions }) => {
          const channels = [...new Set(sessions.map(channelOf))].toSorted();
          const shown = sessions.filter((session) => isWanted(session, channel, text));
          return (
            <>
              <form className="filters" role="search" aria-label="Sessions" onSubmit={(event) => event.preventDefault()}>
                <input
                  type="search"
                  aria-label="Title, person, model or folder"
                  placeholder="Title, person, model or folder"
                  value={text}
                  onChange={({ target }) => choose({ text: target.value })}
                />
                <select aria-label="Channel" value={channel} onChange={({ target }) => choose({ channel: target.value })}>
                  <option value="">All channels</option>
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
                  Only who works now
                </label>
              </form>
              <p className="muted small" role="status">
                {shown.length === sessions.length
                  ? count(sessions.length)
                  : `${count(shown.length)} of ${count(sessions.length)}`}{' '}
                shown
                {sessions.length === limit && '; there are older ones: search finds them'}
              </p>
              {sessions.length === 0 && (
                <Empty title="No session yet">
                  <p>
                    One begins when somebody writes: <Link to="/chat">say something yourself</Link>.
                  </p>
                </Empty>
              )}
              {sessions.length > 0 && shown.length === 0 && (
                <Empty title="No session is like that">
                  <button type="button" className="plain-button" onClick={() => choose({ active: '', channel: '', text: '' })}>
                    Show all
                  </button>
                </Empty>
              )}
              {shown.length > 0 && (
                <Table caption="Sessions" columns={columns} rows={shown} keyOf={({ conversation_key: key }) => key} />
              )}
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

const channelOf = ({ surface, source }: ListedSession): string => surface ?? source;

function isWanted(session: ListedSession, channel: string, text: string): boolean {
  if (channel !== '' && channelOf(session) !== channel) return false;
  const { title, last_text: last, principal, identity, model, engine_id: engine, cwd, conversation_key: key } = session;
  const all = [title, last, principal, identity, model, engine, cwd, key].join('\n').toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

const states: Record<ListedSession['state'], StatusKind> = { running: 'busy', idle: 'none', claimed: 'warn', ended: 'off' };

const columns: Column<ListedSession>[] = [
  {
    name: 'Session',
    isMain: true,
    cell: ({ conversation_key: key, title, last_text: text }) => (
      <Link to="/sessions/$key" params={{ key }} className="row-link">
        {title ?? text?.slice(0, 80) ?? key}
      </Link>
    ),
  },
  { name: 'State', cell: ({ state }) => <Status kind={states[state]} words={state} /> },
  { name: 'Channel', cell: channelOf },
  { name: 'Person', cell: ({ principal, identity }) => principal ?? identity ?? 'nobody' },
  { name: 'Model', cell: ({ model, engine_id: engine }) => model ?? engine ?? 'not known' },
  { name: 'Folder', cell: ({ repo, cwd }) => <span className="path">{repo ?? cwd ?? 'none'}</span> },
  { name: 'Turns', isNumber: true, cell: ({ turns }) => count(turns) },
  { name: 'List price', isNumber: true, cell: ({ cost_usd: cost }) => (cost === null ? 'unknown' : money(cost)) },
  {
    name: 'Last',
    isNumber: true,
    cell: ({ last_event_at: at }) => (
      <time dateTime={new Date(at).toISOString()} title={fullTime(at)}>
        {relativeTime(at)}
      </time>
    ),
  },
];
