import { t } from '@svc/chat-ui/language/t.ts';
import type { RecoveryCodesAnswer } from '@svc/contract/auth.ts';
import { useState } from 'react';
import { FormButtons } from '../../parts/form-buttons.tsx';
import { SecretField } from '../../parts/secret-field.tsx';
import { authCall, AuthFault } from '../../entry/auth-api.ts';
import { authHeaders, proveAgain } from '../../parts/api.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Section } from '../../parts/page.tsx';
import { useAct } from '../../parts/query.ts';
import { toast } from '../../parts/toast.tsx';

/** Changing the password, and new recovery codes. */
export function Password() {
  const [isChanging, setChanging] = useState(false);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const make = useAct<RecoveryCodesAnswer>({ onDone: ({ recovery_codes: made }) => setCodes(made) });
  return (
    <Section title={t('Password and recovery codes')}>
      <p className="row-buttons">
        <button type="button" className="plain-button" onClick={() => setChanging(true)}>
          {t('Change the password')}
        </button>
        <button
          type="button"
          className="plain-button"
          disabled={make.isPending}
          onClick={() => make.mutate({ method: 'POST', path: '/core/v2/auth/recovery-codes' })}
        >
          {t('Make new recovery codes')}
        </button>
      </p>
      {isChanging && <ChangePassword onClose={() => setChanging(false)} />}
      {codes !== null && (
        <Dialog title={t('New recovery codes')} onClose={() => setCodes(null)}>
          <div className="dialog-words">
            <p>{t('They replace the earlier ones, and are shown only once: keep them somewhere other than your phone.')}</p>
            <ul className="codes">
              {codes.map((code) => (
                <li key={code}>
                  <code>{code}</code>
                </li>
              ))}
            </ul>
          </div>
          <p className="row-buttons">
            <button type="button" className="primary" onClick={() => setCodes(null)}>
              {t('I have stored them')}
            </button>
          </p>
        </Dialog>
      )}
    </Section>
  );
}

function ChangePassword({ onClose }: { onClose(): void }) {
  const [password, setPassword] = useState('');
  const [next, setNext] = useState('');
  const [fault, setFault] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);

  const isOfCurrent = fault instanceof AuthFault && fault.status === 401;

  const change = async (): Promise<void> => {
    setBusy(true);
    setFault(null);
    try {
      await send(password, next);
      toast(t('The password is changed. Every other browser is signed out.'));
      onClose();
    } catch (error) {
      setFault(error instanceof Error ? error : new Error(String(error)));
      setBusy(false);
    }
  };

  return (
    <Dialog title={t('Change the password')} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void change();
        }}
      >
        <SecretField
          label={t('Current password')}
          fault={isOfCurrent ? fault.message : null}
          autoComplete="current-password"
          value={password}
          onChange={setPassword}
        />
        <SecretField
          label={t('New password')}
          hint={t('At least 12 characters. Several words work well.')}
          fault={isOfCurrent ? null : (fault?.message ?? null)}
          minLength={12}
          value={next}
          onChange={setNext}
        />
        <FormButtons submit={t('Change password')} isOff={isBusy || password === '' || next === ''} onClose={onClose} />
      </form>
    </Dialog>
  );
}

/** A wrong current password does not mean that the login has ended, so this does not use the call of `api.ts`. */
async function send(password: string, next: string): Promise<void> {
  const body = { password, new_password: next };
  try {
    await authCall('POST', 'password', { headers: authHeaders(), body });
  } catch (error) {
    if (!(error instanceof AuthFault && error.status === 403 && (await proveAgain()))) throw error;
    await authCall('POST', 'password', { headers: authHeaders(), body });
  }
}
