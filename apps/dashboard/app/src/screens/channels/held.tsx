import type { Instance } from '@svc/contract/instance.ts';
import type { HeldAnnouncement } from '@svc/contract/send.ts';
import { counted, relativeTime } from '../../parts/format.ts';
import { useAct, useApi } from '../../parts/query.ts';
import { Status } from '../../parts/status.tsx';

const everyMs = 30_000;

/** Messages that wait until the channel is back, or will never arrive. Nothing while there are none. */
export function Held({ instance: { id } }: { instance: Pick<Instance, 'id'> }) {
  const path = `/manager/instances/${encodeURIComponent(id)}`;
  const { data } = useApi<{ announcements: HeldAnnouncement[] }>(path, everyMs);
  const take = useAct({ changes: [path], done: 'It is taken back.' });
  const held = data?.announcements ?? [];
  if (held.length === 0) return null;
  return (
    <details className="more-fields">
      <summary>{counted(held.length, 'held message')}</summary>
      <ul className="rows-list">
        {held.map(({ id: announcement, target, text, state, error, attempts, created_at: at, expires_at: end }) => (
          <li key={announcement}>
            <Status kind={state === 'waiting' ? 'busy' : 'bad'} words={state === 'waiting' ? 'waits' : 'will not arrive'} />
            <p>{text}</p>
            <p className="muted small">
              {[target === '' ? null : `to ${target}`, `written ${relativeTime(at)}`, `ends ${relativeTime(end)}`]
                .filter((part) => part !== null)
                .join(' · ')}
              {attempts > 0 && ` · ${counted(attempts, 'attempt')}`}
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
                Take back
              </button>
            </p>
          </li>
        ))}
      </ul>
    </details>
  );
}
