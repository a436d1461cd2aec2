import { t } from '@svc/chat-ui/language/t.ts';
import type { TelemetryEvent } from '@svc/contract/event.ts';
import { useState } from 'react';
import { withQuery } from '../../parts/api.ts';
import { relativeTime } from '../../parts/format.ts';
import { Section } from '../../parts/page.tsx';
import { useApi } from '../../parts/query.ts';
import { usePeople } from '../../parts/use-people.ts';
import { WhyLink } from '../../parts/why-link.tsx';

const dayMs = 86_400_000;
const shown = 5;

/** Known people who were refused in the last 24 hours, each once. Strangers are among the needs. Null without any. */
export function Refused() {
  const [since] = useState(() => Date.now() - dayMs);
  const { data } = useApi<{ events: TelemetryEvent[] }>(
    withQuery('/collector/api/events', { kind: 'denied', since, limit: 100 }),
    60_000,
  );
  const people = usePeople();
  const known = (data?.events ?? []).filter(({ principal }) => principal !== null);
  const newest = [...new Map(known.toReversed().map((event) => [`${event.surface} ${event.identity}`, event])).values()];
  if (newest.length === 0) return null;
  return (
    <Section title={t('Refused in the last 24 hours')}>
      <ul className="rows-list">
        {newest
          .toSorted((one, other) => other.ts - one.ts)
          .slice(0, shown)
          .map(({ id, ts, surface, identity, principal, session, payload }) => (
            <li key={id} className="line">
              <span>
                {t('{name} on {channel}, {when}', {
                  name: people.nameOf(principal ?? ''),
                  channel: surface ?? '',
                  when: relativeTime(ts),
                })}
                {typeof payload['reason'] === 'string' && <span className="muted">: {payload['reason']}</span>}
              </span>
              {surface !== null && identity !== null && <WhyLink channel={surface} sender={identity} session={session} />}
            </li>
          ))}
      </ul>
    </Section>
  );
}
