import { t } from '@svc/chat-ui/language/t.ts';
import type { Passkey, PasskeyOptionsAnswer } from '@svc/contract/auth.ts';
import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { FormButtons } from '../../parts/form-buttons.tsx';
import { knowsPasskeys, makePasskey } from '../../entry/passkey.ts';
import { call } from '../../parts/api.ts';
import { Confirm, Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { fullTime, relativeTime } from '../../parts/format.ts';
import { Loaded, Section } from '../../parts/page.tsx';
import { refresh, useAct, useApi } from '../../parts/query.ts';
import { toast } from '../../parts/toast.tsx';
import { useQueryClient } from '@tanstack/react-query';

const path = '/core/v2/auth/passkeys';
const pathOf = ({ id }: Passkey): string => `${path}/${encodeURIComponent(id)}`;

/** The passkeys that sign a person in. */
export function Passkeys() {
  const query = useApi<{ passkeys: Passkey[] }>(path);
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<Passkey | null>(null);
  const remove = useAct({ changes: [path], done: t('The passkey is removed.'), onDone: () => setRemoved(null) });
  return (
    <Section
      title={t('Passkeys')}
      actions={
        knowsPasskeys() && (
          <button type="button" className="plain-button" onClick={() => setAdding(true)}>
            <KeyRound aria-hidden size={16} /> {t('Add a passkey')}
          </button>
        )
      }
    >
      {!knowsPasskeys() && <p className="muted">{t('This browser does not support passkeys.')}</p>}
      <Loaded query={query} rows={1}>
        {({ passkeys }) => (
          <>
            {passkeys.length === 0 && (
              <p className="muted">{t('None. With one you sign in with a fingerprint, a face or a PIN.')}</p>
            )}
            <ul className="rows-list">
              {passkeys.map((passkey) => (
                <li key={passkey.id}>
                  <p>
                    <b>{passkey.name}</b>
                  </p>
                  <p className="muted small">{factsOf(passkey)}</p>
                  <p>
                    <button type="button" className="danger" onClick={() => setRemoved(passkey)}>
                      {t('Remove {name}', { name: passkey.name })}
                    </button>
                  </p>
                </li>
              ))}
            </ul>
          </>
        )}
      </Loaded>
      {isAdding && <AddPasskey onClose={() => setAdding(false)} />}
      {removed !== null && (
        <Confirm
          title={t('Remove {name}?', { name: removed.name })}
          button={t('Remove passkey')}
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate({ method: 'DELETE', path: pathOf(removed) })}
          onClose={() => setRemoved(null)}
        >
          <p>{t('That device can no longer be used to sign in. Its open sessions continue: end them below.')}</p>
        </Confirm>
      )}
    </Section>
  );
}

const factsOf = ({ host, created_at: at, used_at: used }: Passkey): string =>
  used === null
    ? t('For {host}, since {when}, not used yet', { host, when: fullTime(at) })
    : t('For {host}, since {when}, last used {used}', { host, when: fullTime(at), used: relativeTime(used) });

function AddPasskey({ onClose }: { onClose(): void }) {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  const add = async () => {
    setBusy(true);
    setFault(null);
    try {
      const { options } = await call<PasskeyOptionsAnswer>('POST', `${path}/options`);
      await call('POST', path, { body: { name: name.trim(), response: await makePasskey(options) } });
      toast(t('The passkey is added.'));
      await refresh(client, [path]);
      onClose();
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };

  return (
    <Dialog title={t('Add a passkey')} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        <Field label={t('Name')} hint={t('What you call the device, such as Phone.')} fault={fault}>
          {(props) => <input {...props} value={name} maxLength={64} onChange={({ target }) => setName(target.value)} />}
        </Field>
        <FormButtons submit={t('Add passkey')} isOff={isBusy || name.trim() === ''} onClose={onClose} />
      </form>
    </Dialog>
  );
}
