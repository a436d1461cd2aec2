import { t } from '@svc/chat-ui/language/t.ts';
import type { RestorePlan } from '@svc/contract/backup.ts';
import { useState } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { DialogButton } from '../../parts/dialog-button.tsx';
import { Field } from '../../parts/field.tsx';
import { fullTime } from '../../parts/format.ts';
import { FormButtons } from '../../parts/form-buttons.tsx';
import { useAct } from '../../parts/query.ts';
import { SecretField } from '../../parts/secret-field.tsx';
import { toast } from '../../parts/toast.tsx';

/** Uploading and checking a large backup takes a while. */
const importMs = 60 * 60_000;

/** Imports a backup from a file, to be restored at the next start. */
export function ImportBackup({ path }: { path: string }) {
  return <DialogButton label={t('Import a backup')}>{(close) => <Import path={path} onClose={close} />}</DialogButton>;
}

function Import({ path, onClose }: { path: string; onClose(): void }) {
  const [file, setFile] = useState<File | null>(null);
  const [passphrase, setPassphrase] = useState('');
  const act = useAct<{ restore: RestorePlan }>({
    changes: [path],
    isSecret: true,
    hasPlace: true,
    onDone({ restore }) {
      toast(t('The backup of {when} is complete. It is restored at the next start.', { when: fullTime(restore.created_at) }));
      onClose();
    },
  });
  const send = () =>
    act.mutate({
      method: 'POST',
      path: `${path}/import`,
      body: file,
      timeoutMs: importMs,
      ...(passphrase !== '' && { headers: { 'x-backup-passphrase': inBase64(passphrase) } }),
    });
  return (
    <Dialog title={t('Import a backup')} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <p>
          {t(
            'The whole backup is checked first. The next start restores it: what was said, changed and added since then is lost. You can undo this until the start after that.',
          )}
        </p>
        <p>
          {t('A backup contains code that will run. Import one only from a person whom you would let write your connectors.')}
        </p>
        <Field label={t('File of the backup')} fault={act.error?.message ?? null}>
          {(props) => (
            <input
              {...props}
              type="file"
              accept=".gz,.tgz,application/gzip"
              onChange={({ target }) => setFile(target.files?.[0] ?? null)}
            />
          )}
        </Field>
        <BackupPassphrase value={passphrase} onChange={setPassphrase} />
        <FormButtons
          submit={act.isPending ? t('Sending and checking it') : t('Import backup')}
          isOff={act.isPending || file === null}
          onClose={onClose}
        />
      </form>
    </Dialog>
  );
}

/** The passphrase of a backup's secrets. */
export const BackupPassphrase = ({ value, onChange }: { value: string; onChange(value: string): void }) => (
  <SecretField
    label={t('Passphrase of its secrets')}
    hint={t('Leave empty to keep the secrets of this service.')}
    maxLength={1024}
    autoComplete="current-password"
    value={value}
    onChange={onChange}
  />
);

/** A header can have only ASCII letters. */
const inBase64 = (text: string): string => btoa(String.fromCodePoint(...new TextEncoder().encode(text)));
