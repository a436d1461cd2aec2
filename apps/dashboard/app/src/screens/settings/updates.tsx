import { t } from '@svc/chat-ui/language/t.ts';
import type { UpdateStatus } from '@svc/contract/update.ts';
import { fullTime, relativeTime } from '../../parts/format.ts';
import { Loaded } from '../../parts/page.tsx';
import { useAct, useApi } from '../../parts/query.ts';
import { UpdateChannel } from './update-channel.tsx';

const path = '/core/v2/update';

/** Which version runs, and whether there is a newer one. */
export function Updates() {
  const query = useApi<UpdateStatus>(`${path}/status`, 15_000);
  const act = useAct({ changes: [path] });
  return (
    <Loaded query={query} rows={1}>
      {({ version, sha, channel, auto, managed, manager, running, last, check }) => (
        <div className="stack">
          <p>
            {t('Version {version}', { version })} <span className="path muted">{sha.slice(0, 12)}</span>
          </p>
          {running !== null && (
            <p role="status">{t('Updating to {version}: {phase}.', { version: running.to, phase: running.phase })}</p>
          )}
          {check !== null && (
            <p className="muted small">
              {check.words} {t('Checked {when}.', { when: relativeTime(check.checked_at) })}
            </p>
          )}
          {last !== null && (
            <p className="muted small">
              {t('The last update, {when}: {words}', { when: fullTime(last.ended_at), words: last.words })}
            </p>
          )}
          {managed ? (
            <p>
              {manager === null
                ? t('Another program keeps this installation up to date.')
                : t('{manager} keeps this installation up to date.', { manager })}
            </p>
          ) : (
            <>
              <UpdateChannel channel={channel} path={path} />
              <label className="check">
                <input
                  type="checkbox"
                  checked={auto}
                  disabled={act.isPending}
                  onChange={({ target }) => act.mutate({ method: 'POST', path: `${path}/auto`, body: { auto: target.checked } })}
                />
                {t('Install new versions of “{channel}” without being asked', { channel })}
              </label>
              {check?.code === 0 && running === null && (
                <p>
                  <button
                    type="button"
                    className="primary"
                    disabled={act.isPending}
                    onClick={() => act.mutate({ method: 'POST', path: `${path}/run` })}
                  >
                    {t('Update to {version}', { version: check.to?.name ?? '' })}
                  </button>
                </p>
              )}
            </>
          )}
        </div>
      )}
    </Loaded>
  );
}
