import { t } from '@svc/chat-ui/language/t.ts';
import { useState } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { DialogButton } from '../../parts/dialog-button.tsx';
import { FormButtons } from '../../parts/form-buttons.tsx';
import { useAct } from '../../parts/query.ts';
import { SecretField } from '../../parts/secret-field.tsx';

const leastLength = 8;

/** Makes a backup with the secrets, encrypted with a passphrase. */
export function BackupWithSecrets({ path }: { path: string }) {
  return <DialogButton label={t('Make one with secrets')}>{(close) => <Make path={path} onClose={close} />}</DialogButton>;
}

function Make({ path, onClose }: { path: string; onClose(): void }) {
  const [passphrase, setPassphrase] = useState('');
  const [again, setAgain] = useState('');
  const act = useAct({ changes: [path], isSecret: true, done: t('The backup is being made.'), onDone: onClose });
  const isOther = again !== '' && !passphrase.startsWith(again);
  return (
    <Dialog title={t('Make a backup with secrets')} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          act.mutate({ method: 'POST', path, body: { include_secrets: { passphrase } } });
        }}
      >
        <p>
          {t(
            'Includes passwords, tokens, keys and the vault, encrypted with a passphrase. They cannot be opened without it, and it cannot be recovered.',
          )}
        </p>
        <SecretField
          label={t('Passphrase')}
          hint={t('8 characters or more.')}
          minLength={leastLength}
          maxLength={1024}
          value={passphrase}
          onChange={setPassphrase}
        />
        <SecretField
          label={t('Passphrase once more')}
          fault={isOther ? t('The two are not the same.') : null}
          maxLength={1024}
          value={again}
          onChange={setAgain}
        />
        <FormButtons
          submit={t('Make backup')}
          isOff={act.isPending || passphrase.length < leastLength || again !== passphrase}
          onClose={onClose}
        />
      </form>
    </Dialog>
  );
}
