import type { PendingIdentity } from '@svc/contract/pairing.ts';
import type { Principal, Role } from '@svc/contract/trust.ts';
import { useState } from 'react';
import { counted, relativeTime } from '../../parts/format.ts';
import { useAct } from '../../parts/query.ts';
import { type End, forADay, forGood } from './end-field.tsx';
import { LetIn } from './let-in.tsx';
import { trustPaths } from './trust-words.ts';

type Props = { pending: readonly PendingIdentity[]; people: readonly Principal[]; roles: readonly Role[] };

/** Who has written and was refused, because nobody knows them. */
export function Strangers({ pending, people, roles }: Props) {
  const [chosen, setChosen] = useState<{ stranger: PendingIdentity; end: End } | null>(null);
  const dismiss = useAct({ changes: trustPaths, done: 'Taken off the list. Who writes again comes back to it.' });
  if (pending.length === 0) return <p className="muted">None. Who writes and is not known comes here.</p>;
  return (
    <>
      <ul className="rows-list">
        {pending.map((stranger) => (
          <li key={stranger.id}>
            <p>
              <b>{stranger.name ?? stranger.value}</b> on {stranger.surface}
              {stranger.name !== null && <span className="muted"> as {stranger.value}</span>}
            </p>
            <p className="muted small">
              {counted(stranger.count, 'message')}, last {relativeTime(stranger.last_seen)}
              {stranger.code !== null &&
                `. They were shown the code ${stranger.code}: ask them for it, if you are not sure who it is`}
              .
            </p>
            <p className="row-buttons">
              <button type="button" className="primary" onClick={() => setChosen({ stranger, end: forGood })}>
                Let in
              </button>
              <button type="button" className="plain-button" onClick={() => setChosen({ stranger, end: forADay })}>
                Let in for a day
              </button>
              <button
                type="button"
                className="plain-button"
                disabled={dismiss.isPending}
                onClick={() =>
                  dismiss.mutate({ method: 'DELETE', path: `/core/trust/pending/${encodeURIComponent(stranger.id)}` })
                }
              >
                Take off the list
              </button>
            </p>
          </li>
        ))}
      </ul>
      {chosen !== null && <LetIn {...chosen} people={people} roles={roles} onClose={() => setChosen(null)} />}
    </>
  );
}
