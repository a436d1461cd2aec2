import { plural, t } from '@svc/chat-ui/language/t.ts';
import type { Instance } from '@svc/contract/instance.ts';
import type { HeldAnnouncement } from '@svc/contract/send.ts';
import { relativeTime } from '../../parts/format.ts';
import { useAct, useApi } from '../../parts/query.ts';
import { Status } from '../../parts/status.tsx';

const everyMs = 30_000;

/** Messages that wait until the channel is back, or will never arrive. Null while there are none. */
export function Held({ instance: { id } }: { instance: Pick<Instance, 'id'> }) {
  const path = `/manager/instances/${encodeURIComponent(id)}`;
  const { data } = useApi<{ announcements: HeldAnnouncement[] }>(path, everyMs);
  const take = useAct({ changes: [path], done: t('It will not be sent.') });
  const held = data?.announcements ?? [];
  if (held.length === 0) return null;
  return (
    <details className="more-fields">
      <summary>{plural(held.length, '{n} held message', '{n} held messages')}</summary>
      <ul className="rows-list">
        {held.map(({ id: announcement, target, text, state, error, attempts, created_at: at, expires_at: end }) => (
          <li key={announcement}>
            <Status kind={state === 'waiting' ? 'busy' : 'bad'} words={state === 'waiting' ? t('waits') : t('will not arrive')} />
            <p>{text}</p>
            <p className="muted small">
              {[
                target === '' ? null : t('to {target}', { target }),
                t('written {when}', { when: relativeTime(at) }),
                t('ends {when}', { when: relativeTime(end) }),
                attempts === 0 ? null : plural(attempts, '{n} attempt', '{n} attempts'),
              ]
                .filter((part) => part !== null)
                .join(' · ')}
            </p>
            {error !== null && <p className="fault small">{error}</p>}
            <p>
              <button
                type="button"
                className="plain-button"
                disabled={take.isPending}
                onClick={() =>
                  take.mutate({ method: 'DELETE', path: `${path}/announcements/${encodeURIComponent(announcement)}` })
                }
              >
                {t('Take back')}
              </button>
            </p>
          </li>
        ))}
      </ul>
    </details>
  );
}
