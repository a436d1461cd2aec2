import { Rich } from '@svc/chat-ui/language/rich.tsx';
import { plural, t } from '@svc/chat-ui/language/t.ts';
import type { PendingIdentity } from '@svc/contract/pairing.ts';
import type { Principal, Role } from '@svc/contract/trust.ts';
import { useState } from 'react';
import { relativeTime } from '../../parts/format.ts';
import { useAct } from '../../parts/query.ts';
import { type End, forADay, forGood } from './end-field.tsx';
import { LetIn } from './let-in.tsx';
import { trustPaths } from './trust-words.ts';

type Props = { pending: readonly PendingIdentity[]; people: readonly Principal[]; roles: readonly Role[] };

/** Strangers who have written and were refused. */
export function Strangers({ pending, people, roles }: Props) {
  const [chosen, setChosen] = useState<{ stranger: PendingIdentity; end: End } | null>(null);
  const dismiss = useAct({ changes: trustPaths, done: t('Removed from the list. A person who writes again is listed again.') });
  if (pending.length === 0) return <p className="muted">{t('None. People who write without being known are listed here.')}</p>;
  return (
    <>
      <ul className="rows-list">
        {pending.map((stranger) => (
          <li key={stranger.id}>
            <p>
              {stranger.name === null ? (
                <Rich text="{name} on {channel}" name={<b>{stranger.value}</b>} channel={stranger.surface} />
              ) : (
                <Rich
                  text="{name} on {channel} as {sender}"
                  name={<b>{stranger.name}</b>}
                  channel={stranger.surface}
                  sender={<span className="muted">{stranger.value}</span>}
                />
              )}
            </p>
            <p className="muted small">
              {plural(stranger.count, '{n} message, last {when}.', '{n} messages, last {when}.', {
                when: relativeTime(stranger.last_seen),
              })}
              {stranger.code !== null &&
                ` ${t('They were shown the code {code}: ask them for it, if you are not sure who it is.', { code: stranger.code })}`}
            </p>
            <p className="row-buttons">
              <button type="button" className="primary" onClick={() => setChosen({ stranger, end: forGood })}>
                {t('Let in')}
              </button>
              <button type="button" className="plain-button" onClick={() => setChosen({ stranger, end: forADay })}>
                {t('Let in for a day')}
              </button>
              <button
                type="button"
                className="plain-button"
                disabled={dismiss.isPending}
                onClick={() =>
                  dismiss.mutate({ method: 'DELETE', path: `/core/trust/pending/${encodeURIComponent(stranger.id)}` })
                }
              >
                {t('Remove from the list')}
              </button>
            </p>
          </li>
        ))}
      </ul>
      {chosen !== null && <LetIn {...chosen} people={people} roles={roles} onClose={() => setChosen(null)} />}
    </>
  );
}
