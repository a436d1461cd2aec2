import { Link } from '@tanstack/react-router';
import { fullTime, relativeTime } from '../../parts/format.ts';
import { Loaded } from '../../parts/page.tsx';
import { useAct, useApi } from '../../parts/query.ts';

type Session = { id: string; device: string; created_at: number; seen_at: number; expires_at: number };
const path = '/core/v2/auth/sessions';

/** Where somebody is signed in, and ending that. */
export function SignedIn() {
  const query = useApi<{ current: string; sessions: Session[] }>(path);
  const end = useAct({ changes: [path], done: 'Signed out there.' });
  return (
    <Loaded query={query} rows={1}>
      {({ current, sessions }) => (
        <>
          <ul className="rows-list">
            {sessions.map(({ id, device, created_at: began, seen_at: seen, expires_at: until }) => (
              <li key={id}>
                <p>{id === current ? <b>This browser</b> : device}</p>
                <p className="muted small">
                  Since {fullTime(began)}, last seen {relativeTime(seen)}, ends {relativeTime(until)}
                  {id === current && `: ${device}`}
                </p>
                {id !== current && (
                  <p>
                    <button
                      type="button"
                      className="danger"
                      disabled={end.isPending}
                      onClick={() => end.mutate({ method: 'DELETE', path: `${path}/${encodeURIComponent(id)}` })}
                    >
                      Sign out there
                    </button>
                  </p>
                )}
              </li>
            ))}
          </ul>
          <p className="muted small">
            Phones that use the app of the gateway are signed out at their <Link to="/channels">channel</Link>, under Devices.
          </p>
        </>
      )}
    </Loaded>
  );
}
