import { shorten } from '@svc/chat-ui/language/shorten.ts';
import { plural, t } from '@svc/chat-ui/language/t.ts';
import type { TelemetryEvent } from '@svc/contract/event.ts';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { get, withQuery } from '../../parts/api.ts';
import { factLine } from '../../parts/fact-line.ts';
import { fullTime, shortTime } from '../../parts/format.ts';
import { useFrames } from '../../parts/live.tsx';
import { Empty, Loaded } from '../../parts/page.tsx';
import { useStillList } from '../../parts/query.ts';
import { type People, usePeople } from '../../parts/use-people.ts';
import { WhyLink } from '../../parts/why-link.tsx';
import { toast } from '../../parts/toast.tsx';

type EventPage = { events: TelemetryEvent[]; next_before: string | null };
const pageSize = 100;
const path = withQuery('/collector/api/events', { limit: pageSize });

/** Events of every process, the newest first. New ones are counted and shown on request, so that the list does not move while a person reads. */
export function Events() {
  const query = useStillList<EventPage>(path);
  const people = usePeople();
  const [older, setOlder] = useState<EventPage | null>(null);
  const [fresh, setFresh] = useState(0);
  useFrames(({ type }) => type === 'event' && setFresh((before) => before + 1));

  // Older pages continue the first one as it was.
  useEffect(() => {
    setFresh(0);
    setOlder(null);
  }, [query.dataUpdatedAt]);
  const showOlder = async (before: string) => {
    try {
      const page = await get<EventPage>(withQuery('/collector/api/events', { limit: pageSize, before }));
      setOlder((known) => ({ events: [...(known?.events ?? []), ...page.events], next_before: page.next_before }));
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), 'fault');
    }
  };

  return (
    <div className="view">
      {fresh > 0 && (
        <p>
          <button type="button" className="plain-button" onClick={() => void query.refetch()}>
            {plural(fresh, 'Show {n} new event', 'Show {n} new events')}
          </button>
        </p>
      )}
      <Loaded query={query} rows={10}>
        {(first) => {
          const events = [...first.events, ...(older?.events ?? [])];
          const next = older === null ? first.next_before : older.next_before;
          if (events.length === 0) return <Empty title={t('Nothing has happened yet')} />;
          return (
            <>
              <ol className="events">
                {events.map((event) => (
                  <EventRow key={event.id} event={event} people={people} />
                ))}
              </ol>
              {next !== null && (
                <p>
                  <button type="button" className="plain-button" onClick={() => void showOlder(next)}>
                    {t('Show older ones')}
                  </button>
                </p>
              )}
            </>
          );
        }}
      </Loaded>
    </div>
  );
}

const maxText = 300;

/** An event without a text is described by its fields. */
const wordsOf = ({ text, payload }: TelemetryEvent): string =>
  shorten(text === null || text === '' ? factLine(payload) : text, maxText);

function EventRow({ event, people }: { event: TelemetryEvent; people: People }) {
  const { ts, kind, surface, identity, session } = event;
  const words = wordsOf(event);
  return (
    <li>
      <time dateTime={new Date(ts).toISOString()} title={fullTime(ts)}>
        {shortTime(ts)}
      </time>
      <b>{kind}</b>
      <span className="muted">{[surface, people.nameIn(event)].filter((part) => part !== null).join(' · ')}</span>
      {words !== '' && <span className="event-text">{words}</span>}
      {kind === 'denied' && surface !== null && identity !== null && (
        <WhyLink channel={surface} sender={identity} session={session} />
      )}
      {session !== null && (
        <Link to="/sessions/$key" params={{ key: session }} aria-label={t('Session of this {kind}', { kind })}>
          {t('Session')}
        </Link>
      )}
    </li>
  );
}
