import { t } from '@svc/chat-ui/language/t.ts';
import type { PasskeyOptionsAnswer } from '@svc/contract/auth.ts';
import { appKey } from './app-key.ts';
import { authCall, AuthFault } from './auth-api.ts';
import { faultLine, field, form, make, show } from './dom.ts';
import { knowsPasskeys, makePasskey, namedAddress } from './passkey.ts';

type Step =
  | { step: 'account' }
  | { step: 'totp'; name: string; secret: string; uri: string }
  | { step: 'recovery'; name: string };

const place = 'svc-setup-token';
const token = takeToken();
const headers = { 'x-setup-token': token };

/** Removed from the address at once, so that no history and no screenshot has it. A reload continues with it. */
function takeToken(): string {
  const given = location.hash.slice(1);
  if (given !== '') sessionStorage.setItem(place, given);
  history.replaceState(null, '', location.pathname);
  return given === '' ? (sessionStorage.getItem(place) ?? '') : given;
}

const send = (path: string, body: object) => authCall<Step>('POST', `setup/${path}`, { headers, body });

function showStep(step: Step): void {
  if (step.step === 'account') return showAccount();
  if (step.step === 'totp') return showTotp(step);
  showRecovery();
}

function showAccount(): void {
  const name = field({
    id: 'name',
    type: 'text',
    label: t('Name'),
    hint: t('You sign in with it. Letters, digits and signs.'),
    autocomplete: 'username',
  });
  const password = field({
    id: 'password',
    type: 'password',
    label: t('Password'),
    hint: t('At least 12 characters. Several words work well; so does a password manager.'),
    autocomplete: 'new-password',
  });
  password.input.minLength = 12;
  show(
    t('Set up the login'),
    steps(1),
    form({
      parts: [...name.parts, ...password.parts],
      button: t('Go on'),
      busy: t('Saving'),
      onSubmit: async () => showStep(await send('account', { name: name.input.value.trim(), password: password.input.value })),
    }),
    ...linkToPasskeys(),
  );
}

function showTotp(key: Extract<Step, { step: 'totp' }>): void {
  const code = field({
    id: 'code',
    type: 'text',
    label: t('Code that the app shows'),
    autocomplete: 'one-time-code',
    inputMode: 'numeric',
  });
  show(
    t('Second factor'),
    steps(2),
    ...passkeyChoice(),
    make('h2', {}, t('An authenticator app')),
    ...appKey(key),
    form({
      parts: code.parts,
      button: t('Go on'),
      busy: t('Checking'),
      onSubmit: async () => showStep(await send('totp', { code: code.input.value.trim() })),
    }),
  );
}

/** Empty where this browser or this address cannot create a passkey: the authenticator app is offered below. */
function passkeyChoice(): Node[] {
  if (!knowsPasskeys() || namedAddress() !== null) return [];
  const fault = faultLine();
  const button = make('button', { type: 'button', className: 'plain-button' }, t('Make a passkey'));
  button.addEventListener('click', () => {
    fault.say(null);
    button.disabled = true;
    addPasskey()
      .then(showStep)
      .catch((error: unknown) => fault.say(error instanceof Error ? error.message : String(error)))
      .finally(() => (button.disabled = false));
  });
  const words = t(
    'A fingerprint, a face or a PIN of this device signs you in, without the password. It works only at {host}: at another address you sign in with the password and a recovery code, and can add a passkey there.',
    { host: location.hostname },
  );
  return [make('h2', {}, t('A passkey')), make('p', {}, words), button, fault.element];
}

async function addPasskey(): Promise<Step> {
  const { options } = await authCall<PasskeyOptionsAnswer>('POST', 'setup/passkey/options', { headers, body: {} });
  return send('passkey', { name: t('First device'), response: await makePasskey(options) });
}

/** Shown before anything is typed, because a set-up can continue only at the address where it began. */
function linkToPasskeys(): Node[] {
  const there = namedAddress();
  if (there === null) return [];
  const words = t('Here you continue with an authenticator app. A passkey needs a host name: {address}.', { address: there });
  const link = make('a', { href: `${there}/setup#${token}` }, t('Open it there'));
  return [make('p', { className: 'muted small' }, `${words} `, link)];
}

function showRecovery(): void {
  show(
    t('Recovery codes'),
    steps(3),
    make(
      'p',
      {},
      t(
        'Ten codes sign you in if the app or the passkey is lost, each once. They are shown only once: keep them somewhere other than your phone.',
      ),
    ),
    form({
      parts: [],
      button: t('Show the codes'),
      busy: t('Making them'),
      onSubmit: async () =>
        showCodes(
          (await authCall<{ recovery_codes: string[] }>('POST', 'setup/recovery-codes', { headers, body: {} })).recovery_codes,
        ),
    }),
  );
}

function showCodes(codes: readonly string[]): void {
  const text = `${codes.join('\n')}\n`;
  const copy = make('button', { type: 'button', className: 'plain-button' }, t('Copy'));
  copy.addEventListener('click', () => void navigator.clipboard.writeText(text).then(() => (copy.textContent = t('Copied'))));
  const save = make(
    'a',
    {
      className: 'plain-button',
      href: URL.createObjectURL(new Blob([text], { type: 'text/plain' })),
      download: 'recovery-codes.txt',
    },
    t('Download'),
  );
  const code = field({
    id: 'code',
    type: 'text',
    label: t('Type one of them, to prove that you have them'),
    autocomplete: 'off',
  });
  show(
    t('Recovery codes'),
    steps(3),
    make('ol', { className: 'codes' }, ...codes.map((one) => make('li', {}, make('code', {}, one)))),
    make('p', { className: 'row' }, copy, save),
    form({
      parts: code.parts,
      button: t('Finish'),
      busy: t('Finishing'),
      async onSubmit() {
        await send('finish', { code: code.input.value.trim() });
        sessionStorage.removeItem(place);
        location.replace('/welcome/engine');
      },
    }),
  );
}

const steps = (now: number): Node => make('p', { className: 'muted small' }, t('Step {now} of 3', { now }));

function showEnded(words: string): void {
  show(t('This link has expired'), make('p', {}, words), make('p', {}, make('a', { href: '/login' }, t('Sign in'))));
}

document.title = t('Set up the login');
try {
  if (token === '') showEnded(t('Open the link that ./svc auth setup prints: it works once, for 15 minutes.'));
  else showStep(await authCall<Step>('GET', 'setup', { headers }));
} catch (error) {
  if (error instanceof AuthFault && error.status === 401) showEnded(error.message);
  else if (error instanceof AuthFault) show(t('The login cannot be set up now'), make('p', {}, error.message));
  else show(t('The service cannot be reached'), make('p', {}, t('Check that it runs, then load this page again.')));
}
