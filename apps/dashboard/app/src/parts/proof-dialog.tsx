import { t } from '@svc/chat-ui/language/t.ts';
import { useEffect, useRef, useState } from 'react';
import { authCall } from '../entry/auth-api.ts';
import { knowsPasskeys, provePasskey } from '../entry/passkey.ts';
import { authHeaders } from './api.ts';
import { Dialog } from './dialog.tsx';
import { Field } from './field.tsx';

type What = 'sign-in' | 'step-up';
type Props = { what: What; user: string; onEnd(isProven: boolean): void };

const words: Record<What, { title: string; why: string; button: string }> = {
  'sign-in': {
    title: t('Sign in again'),
    why: t('Your login has ended. What you were doing continues when you have signed in.'),
    button: t('Sign in'),
  },
  'step-up': {
    title: t('Is it you?'),
    why: t(
      'This needs a code of your authenticator app, because the last one is older than ten minutes. A recovery code or a passkey works too.',
    ),
    button: t('Go on'),
  },
};

/** Asks for the missing proof in a dialog over the page, so that nothing that was typed is lost. */
export function ProofDialog({ what, user, onEnd }: Props) {
  const { title, why, button } = words[what];
  const [name, setName] = useState(user);
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);

  const byPasskey = () => (what === 'sign-in' ? provePasskey('login') : provePasskey('step-up', { headers: authHeaders() }));
  const byCode = () => send(what, { name: name.trim(), password, code: code.trim() });
  const prove = async (by: () => Promise<void>) => {
    setBusy(true);
    setFault(null);
    try {
      await by();
      onEnd(true);
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };

  return (
    <Dialog title={title} onClose={() => onEnd(false)}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void prove(byCode);
        }}
      >
        <p>{why}</p>
        {what === 'sign-in' && (
          <>
            <Field label={t('Name')}>
              {(props) => (
                <input {...props} autoComplete="username" value={name} onChange={({ target }) => setName(target.value)} />
              )}
            </Field>
            <Field label={t('Password')}>
              {(props) => (
                <input
                  {...props}
                  ref={first}
                  type="password"
                  autoComplete="current-password"
                  value={password}
                  onChange={({ target }) => setPassword(target.value)}
                />
              )}
            </Field>
          </>
        )}
        <Field label={t('Code')}>
          {(props) => (
            <input
              {...props}
              {...(what === 'step-up' && { ref: first })}
              autoComplete="one-time-code"
              value={code}
              onChange={({ target }) => setCode(target.value)}
            />
          )}
        </Field>
        {fault !== null && (
          <p className="fault" role="alert">
            {fault}
          </p>
        )}
        {knowsPasskeys() && (
          <p>
            <button type="button" className="plain-button" disabled={isBusy} onClick={() => void prove(byPasskey)}>
              {t('Use a passkey')}
            </button>
          </p>
        )}
        <p className="row-buttons">
          <button type="submit" className="primary" disabled={isBusy || code.trim() === ''}>
            {button}
          </button>
          <button type="button" className="plain-button" onClick={() => onEnd(false)}>
            {t('Cancel')}
          </button>
        </p>
      </form>
    </Dialog>
  );
}

async function send(what: What, { name, password, code }: { name: string; password: string; code: string }): Promise<void> {
  if (what === 'sign-in') await authCall('POST', 'login', { body: { name, password, code } });
  else await authCall('POST', 'step-up', { headers: authHeaders(), body: { code } });
}
