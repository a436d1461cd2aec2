import { pieces, t } from '@svc/chat-ui/language/t.ts';
import { authCall, nextPage } from './auth-api.ts';
import { faultLine, field, form, make, show } from './dom.ts';
import { knowsPasskeys, offersPasskeys, provePasskey } from './passkey.ts';

const name = field({ id: 'name', type: 'text', label: t('Name'), autocomplete: 'username webauthn' });
const password = field({ id: 'password', type: 'password', label: t('Password'), autocomplete: 'current-password' });
const code = field({
  id: 'code',
  type: 'text',
  label: t('Code'),
  hint: t('Six digits of your authenticator app, or one of your recovery codes.'),
  autocomplete: 'one-time-code',
});

/** The browser offers passkeys in the name field; a request by a button cancels that first. */
let offer = new AbortController();
const goOn = () => location.replace(nextPage(location.search));
const passkeyFault = faultLine();
const passkeyButton = make('button', { type: 'button', className: 'plain-button' }, t('Sign in with a passkey'));
passkeyButton.hidden = !knowsPasskeys();
passkeyButton.addEventListener('click', () => {
  offer.abort();
  offer = new AbortController();
  passkeyFault.say(null);
  passkeyButton.disabled = true;
  provePasskey('login', { signal: offer.signal })
    .then(goOn)
    .catch((error: unknown) => passkeyFault.say(error instanceof Error ? error.message : String(error)))
    .finally(() => (passkeyButton.disabled = false));
});
const offerPasskeys = async (): Promise<void> => {
  if (!(await offersPasskeys())) return;
  await provePasskey('login', { mediation: 'conditional', signal: offer.signal });
  goOn();
};
// An offer that nobody accepts is not an error.
offerPasskeys().catch(() => undefined);

const wayBack: (Node | string)[] = pieces(
  'No login yet, or locked out? Run {setup} or {reset} where the service is installed, and open the link that it prints.',
  { setup: make('code', {}, './svc auth setup'), reset: make('code', {}, './svc auth reset') },
);

document.title = t('Sign in');
show(
  t('Sign in'),
  form({
    parts: [...name.parts, ...password.parts, ...code.parts],
    button: t('Sign in'),
    busy: t('Signing in'),
    async onSubmit() {
      await authCall('POST', 'login', {
        body: { name: name.input.value.trim(), password: password.input.value, code: code.input.value.trim() },
      });
      goOn();
    },
  }),
  passkeyButton,
  passkeyFault.element,
  make('p', { className: 'muted small' }, ...wayBack),
);
