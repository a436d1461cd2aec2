import { t } from '@svc/chat-ui/language/t.ts';
import type { Backup, RestoreState } from '@svc/contract/backup.ts';
import { useState } from 'react';
import { DownloadButton } from './files/download-button.tsx';
import { ConfirmButton } from '../../parts/dialog-button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { bytes, fullTime, relativeTime } from '../../parts/format.ts';
import { Loaded, Section } from '../../parts/page.tsx';
import { useAct, useApi } from '../../parts/query.ts';
import { Status, type StatusKind } from '../../parts/status.tsx';
import { BackupPassphrase, ImportBackup } from './backup-import.tsx';
import { BackupWithSecrets } from './backup-with-secrets.tsx';
import { RestartService } from './restart-service.tsx';

const path = '/core/v2/backups';
const states: Record<Backup['state'], { kind: StatusKind; words: string }> = {
  done: { kind: 'ok', words: t('done') },
  running: { kind: 'busy', words: t('running') },
  failed: { kind: 'bad', words: t('failed') },
};

/** Backups of the installation: making and restoring one. */
export function Backups() {
  const query = useApi<{ backups: Backup[]; restore: RestoreState | null }>(path, 5000);
  const make = useAct({ changes: [path], done: t('The backup is being made.') });
  const undo = useAct({ changes: [path], done: t('The restore is taken back.') });
  const [chosen, setChosen] = useState<Backup | null>(null);
  return (
    <Section
      title={t('Copies')}
      actions={
        <div className="row-buttons">
          <button
            type="button"
            className="plain-button"
            disabled={make.isPending}
            onClick={() => make.mutate({ method: 'POST', path })}
          >
            {t('Make a backup')}
          </button>
          <BackupWithSecrets path={path} />
          <ImportBackup path={path} />
        </div>
      }
    >
      <Loaded query={query} rows={2}>
        {({ backups, restore }) => (
          <>
            {restore !== null && (
              <div className="fault-box" role="status">
                <div>
                  <p>{restoreWords(restore)}</p>
                  {restore.state !== 'applied' && <RestartService />}
                  {restore.state !== 'undoing' && (
                    <button
                      type="button"
                      className="plain-button"
                      disabled={undo.isPending}
                      onClick={() => undo.mutate({ method: 'DELETE', path: `${path}/restore` })}
                    >
                      {t('Take the restore back')}
                    </button>
                  )}
                </div>
              </div>
            )}
            {backups.length === 0 && <p className="muted">{t('There is none.')}</p>}
            <ul className="rows-list">
              {backups.map((backup) => (
                <li key={backup.id}>
                  <div className="line-between">
                    <b>{fullTime(backup.created_at)}</b>
                    <Status {...states[backup.state]} />
                  </div>
                  <p className="muted small">{factsOf(backup)}</p>
                  {backup.error !== null && <p className="fault small">{backup.error}</p>}
                  {backup.state !== 'running' && (
                    <p className="row-buttons">
                      {backup.state === 'done' && (
                        <DownloadButton
                          path={`${path}/${encodeURIComponent(backup.id)}`}
                          name={`svc-backup-${dayOf(backup.created_at)}.tar.gz`}
                        />
                      )}
                      {backup.state === 'done' && (
                        <button type="button" className="plain-button" onClick={() => setChosen(backup)}>
                          {t('Restore')}
                        </button>
                      )}
                      <ConfirmButton
                        look="danger"
                        title={t('Remove the backup of {when}?', { when: fullTime(backup.created_at) })}
                        button={t('Remove backup')}
                        change={{ method: 'DELETE', path: `${path}/${encodeURIComponent(backup.id)}` }}
                        changes={[path]}
                        done={t('The backup is removed.')}
                      >
                        <p>{t('It cannot be recovered.')}</p>
                      </ConfirmButton>
                    </p>
                  )}
                </li>
              ))}
            </ul>
          </>
        )}
      </Loaded>
      {chosen !== null && <Restore backup={chosen} onClose={() => setChosen(null)} />}
    </Section>
  );
}

const factsOf = ({ version, bytes: size, scheduled, has_secrets: hasSecrets, created_at: at }: Backup): string =>
  [
    relativeTime(at),
    t('version {version}', { version }),
    size === null ? null : bytes(size),
    scheduled ? t('made automatically') : null,
    hasSecrets ? t('with secrets') : null,
  ]
    .filter((part) => part !== null)
    .join(' · ');

function restoreWords({ state, plan }: RestoreState): string {
  const when = fullTime(plan.created_at);
  if (state === 'pending') return t('The backup of {when} is restored at the next start of the service.', { when });
  return state === 'applied'
    ? t('The backup of {when} is in place. What was there before is kept until the next start.', { when })
    : t('The earlier state is restored at the next start of the service.');
}

/** The day as it must be typed. */
const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

function Restore({ backup, onClose }: { backup: Backup; onClose(): void }) {
  const [typed, setTyped] = useState('');
  const [passphrase, setPassphrase] = useState('');
  const act = useAct({
    changes: [path],
    isSecret: true,
    done: t('It is restored at the next start of the service.'),
    onDone: onClose,
  });
  const day = dayOf(backup.created_at);
  return (
    <Dialog title={t('Restore this backup?')} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          act.mutate({
            method: 'POST',
            path: `${path}/${encodeURIComponent(backup.id)}/restore`,
            body: passphrase === '' ? {} : { passphrase },
            timeoutMs: 10 * 60_000,
          });
        }}
      >
        <p>
          {t(
            'The next start restores the state of {when}. What was said, changed and added since then is lost. You can undo this until the start after that.',
            { when: fullTime(backup.created_at) },
          )}
        </p>
        <Field label={t('Type the day of the backup, {day}', { day })}>
          {(props) => <input {...props} value={typed} autoComplete="off" onChange={({ target }) => setTyped(target.value)} />}
        </Field>
        {backup.has_secrets && <BackupPassphrase value={passphrase} onChange={setPassphrase} />}
        <p className="row-buttons">
          <button type="submit" className="danger" disabled={act.isPending || typed.trim() !== day}>
            {t('Restore backup')}
          </button>
          <button type="button" className="plain-button" onClick={onClose}>
            {t('Cancel')}
          </button>
        </p>
      </form>
    </Dialog>
  );
}
