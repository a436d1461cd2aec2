import { Rich } from '@svc/chat-ui/language/rich.tsx';
import { t } from '@svc/chat-ui/language/t.ts';
import { Link } from '@tanstack/react-router';
import { fullTime, relativeTime } from '../../parts/format.ts';
import { Loaded } from '../../parts/page.tsx';
import { useAct, useApi } from '../../parts/query.ts';
import { browserName } from './browser-name.ts';

type Session = { id: string; device: string; created_at: number; seen_at: number; expires_at: number };
const path = '/core/v2/auth/sessions';

/** Where a person is signed in, and ending that. */
export function SignedIn() {
  const query = useApi<{ current: string; sessions: Session[] }>(path);
  const end = useAct({ changes: [path], done: t('Signed out there.') });
  return (
    <Loaded query={query} rows={1}>
      {({ current, sessions }) => (
        <>
          <ul className="rows-list">
            {sessions.map(({ id, device, ...times }) => (
              <li key={id}>
                <p title={device}>{id === current ? <b>{t('This browser')}</b> : nameOf(device)}</p>
                <p className="muted small">
                  {id === current
                    ? t('Since {began}, last seen {seen}, ends {until}: {device}', { ...shown(times), device: nameOf(device) })
                    : t('Since {began}, last seen {seen}, ends {until}', shown(times))}
                </p>
                {id !== current && (
                  <p>
                    <button
                      type="button"
                      className="danger"
                      disabled={end.isPending}
                      onClick={() => end.mutate({ method: 'DELETE', path: `${path}/${encodeURIComponent(id)}` })}
                    >
                      {t('Sign out there')}
                    </button>
                  </p>
                )}
              </li>
            ))}
          </ul>
          <p className="muted small">
            <Rich
              text="Phones that use the app of the gateway are signed out at their {channel}, under Devices."
              channel={<Link to="/channels">{t('channel')}</Link>}
            />
          </p>
        </>
      )}
    </Loaded>
  );
}

function nameOf(device: string): string {
  const name = browserName(device);
  return name === null ? device : t('{browser} on {system}', name);
}

const shown = ({ created_at: began, seen_at: seen, expires_at: until }: Omit<Session, 'id' | 'device'>) => ({
  began: fullTime(began),
  seen: relativeTime(seen),
  until: relativeTime(until),
});
