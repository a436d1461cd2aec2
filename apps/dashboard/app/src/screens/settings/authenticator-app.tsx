import { t } from '@svc/chat-ui/language/t.ts';
import type { TotpAnswer, TotpBegun } from '@svc/contract/auth.ts';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { appKey } from '../../entry/app-key.ts';
import { call } from '../../parts/api.ts';
import { ConfirmButton } from '../../parts/dialog-button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { FormButtons } from '../../parts/form-buttons.tsx';
import { Loaded, Section } from '../../parts/page.tsx';
import { refresh, useAct, useApi } from '../../parts/query.ts';
import { toast } from '../../parts/toast.tsx';
import '../../parts/qr.css';

const path = '/core/v2/auth/totp';

/** The app whose codes sign in beside the password. */
export function AuthenticatorApp() {
  const query = useApi<TotpAnswer>(path);
  const [begun, setBegun] = useState<TotpBegun | null>(null);
  const begin = useAct<TotpBegun>({ isSecret: true, onDone: setBegun });
  return (
    <Section title={t('Authenticator app')}>
      <Loaded query={query} rows={1}>
        {({ is_set: isSet }) => (
          <>
            <p className="muted">
              {isSet
                ? t('One is set. Your password and one of its codes sign you in at every address.')
                : t('None is set. With one you sign in with your password and a code, even where no passkey works.')}
            </p>
            <p className="row-buttons">
              <button
                type="button"
                className="plain-button"
                disabled={begin.isPending}
                onClick={() => begin.mutate({ method: 'POST', path: `${path}/key` })}
              >
                {isSet ? t('Replace it') : t('Add an authenticator app')}
              </button>
              {isSet && (
                <ConfirmButton
                  label={t('Remove it')}
                  look="danger"
                  title={t('Remove the authenticator app?')}
                  button={t('Remove authenticator app')}
                  change={{ method: 'DELETE', path }}
                  changes={[path]}
                  done={t('The authenticator app is removed.')}
                >
                  <p>
                    {t(
                      'Its codes no longer sign you in. You then sign in with a passkey or, where none works, with your password and a recovery code.',
                    )}
                  </p>
                </ConfirmButton>
              )}
            </p>
            {begun !== null && <NewApp begun={begun} isReplacing={isSet} onClose={() => setBegun(null)} />}
          </>
        )}
      </Loaded>
    </Section>
  );
}

function NewApp({ begun, isReplacing, onClose }: { begun: TotpBegun; isReplacing: boolean; onClose(): void }) {
  const client = useQueryClient();
  const [code, setCode] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  const confirm = async () => {
    setBusy(true);
    setFault(null);
    try {
      await call('POST', path, { body: { id: begun.id, code: code.trim() } });
      toast(isReplacing ? t('The authenticator app is replaced.') : t('The authenticator app is added.'));
      onClose();
      await refresh(client, [path]);
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };

  return (
    <Dialog title={isReplacing ? t('Replace the authenticator app') : t('Add an authenticator app')} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void confirm();
        }}
      >
        {isReplacing && <p>{t('Your current app works until you type a code from the new one here.')}</p>}
        <AppKey begun={begun} />
        <Field label={t('Code that the app shows')} fault={fault}>
          {(props) => (
            <input
              {...props}
              inputMode="numeric"
              autoComplete="one-time-code"
              value={code}
              maxLength={64}
              onChange={({ target }) => setCode(target.value)}
            />
          )}
        </Field>
        <FormButtons
          submit={isReplacing ? t('Replace app') : t('Add app')}
          isOff={isBusy || code.trim() === ''}
          onClose={onClose}
        />
      </form>
    </Dialog>
  );
}

/** As the set-up page shows it. */
function AppKey({ begun }: { begun: TotpBegun }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.replaceChildren(...appKey(begun)), [begun]);
  return <div className="stack" ref={place} />;
}
