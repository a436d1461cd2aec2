import { t } from '@svc/chat-ui/language/t.ts';
import { useState } from 'react';
import { FormButtons } from '../../parts/form-buttons.tsx';
import { SecretField } from '../../parts/secret-field.tsx';
import { call } from '../../parts/api.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { queryClient, refresh } from '../../parts/query.ts';
import { toast, toastFault } from '../../parts/toast.tsx';

type Props = { secret: string; path: string; name: string; onClose(): void };

/** Stores the secret and starts the channel with it. */
export function MissingSecret({ secret, path, name, onClose }: Props) {
  const [value, setValue] = useState('');
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      await call('POST', '/core/v2/vault/secrets', { body: { name: secret, value } });
      await call('POST', `${path}/restart`);
      toast(t('{name} is being started.', { name }));
      onClose();
    } catch (error) {
      toastFault(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
      await refresh(queryClient, ['/manager/instances']);
    }
  };
  return (
    <Dialog title={t('The secret of {name}', { name })} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <SecretField
          label={secret}
          hint={t('It is stored with the secrets, and not shown again.')}
          value={value}
          onChange={setValue}
        />
        <FormButtons submit={t('Keep it and restart')} isOff={isBusy || value === ''} onClose={onClose} />
      </form>
    </Dialog>
  );
}
