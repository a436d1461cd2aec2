import type { ListedSession } from '@svc/contract/session.ts';
import { Link } from '@tanstack/react-router';
import { count, fullTime, money, relativeTime } from '../../parts/format.ts';
import { Empty, Loaded, Page } from '../../parts/page.tsx';
import { useApi } from '../../parts/query.ts';
import { Status, type StatusKind } from '../../parts/status.tsx';
import { type Column, Table } from '../../parts/table.tsx';

/** Who works where: every session of core, terminals and transcripts, the newest first. */
export function Sessions() {
  const query = useApi<{ sessions: ListedSession[] }>('/collector/api/sessions?limit=200', 60_000);
  return (
    <Page title="Sessions">
      <Loaded query={query} rows={8}>
        {({ sessions }) =>
          sessions.length === 0 ? (
            <Empty title="No session yet">
              <p>
                One begins when somebody writes: <Link to="/chat">say something yourself</Link>.
              </p>
            </Empty>
          ) : (
            <Table caption="Sessions" columns={columns} rows={sessions} keyOf={({ conversation_key: key }) => key} />
          )
        }
      </Loaded>
    </Page>
  );
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
  { name: 'Channel', cell: ({ surface, source }) => surface ?? source },
  { name: 'Person', cell: ({ principal, identity }) => principal ?? identity ?? 'nobody' },
  { name: 'Model', cell: ({ model, engine_id: engine }) => model ?? engine ?? 'not known' },
  { name: 'Turns', isNumber: true, cell: ({ turns }) => count(turns) },
  { name: 'List price', isNumber: true, cell: ({ cost_usd: cost }) => money(cost) },
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
