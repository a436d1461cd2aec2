import type { PasskeyOptionsAnswer } from '@svc/contract/auth.ts';
import { authCall, AuthFault } from './auth-api.ts';
import { faultLine, field, form, make, show } from './dom.ts';
import { knowsPasskeys, makePasskey, namedAddress } from './passkey.ts';
import { qrCode } from './qr-code.ts';

type Step =
  | { step: 'account' }
  | { step: 'totp'; name: string; secret: string; uri: string }
  | { step: 'recovery'; name: string };

const place = 'svc-setup-token';
const token = takeToken();
const headers = { 'x-setup-token': token };

/** Out of the address at once, so that it stands in no history and no screenshot. A reload goes on with it. */
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
    label: 'Name',
    hint: 'You sign in with it. Letters, digits and signs.',
    autocomplete: 'username',
  });
  const password = field({
    id: 'password',
    type: 'password',
    label: 'Password',
    hint: 'At least 12 characters. Several words are good; so is what a password manager makes.',
    autocomplete: 'new-password',
  });
  password.input.minLength = 12;
  show(
    'Set up the login',
    steps(1),
    form({
      parts: [...name.parts, ...password.parts],
      button: 'Go on',
      busy: 'Saving',
      onSubmit: async () => showStep(await send('account', { name: name.input.value.trim(), password: password.input.value })),
    }),
    ...wayToPasskeys(),
  );
}

function showTotp({ secret, uri }: Extract<Step, { step: 'totp' }>): void {
  const code = field({
    id: 'code',
    type: 'text',
    label: 'Code that the app shows',
    autocomplete: 'one-time-code',
    inputMode: 'numeric',
  });
  show(
    'Second factor',
    steps(2),
    ...passkeyChoice(),
    make('h2', {}, 'An authenticator app'),
    make('p', {}, 'Scan this with it, or type the key into it. Then type the code that it shows.'),
    qrCode(uri),
    make(
      'p',
      {},
      make('span', { className: 'muted' }, 'Key: '),
      make('code', { className: 'key' }, secret.replaceAll(/(.{4})/g, '$1 ').trim()),
    ),
    form({
      parts: code.parts,
      button: 'Go on',
      busy: 'Checking',
      onSubmit: async () => showStep(await send('totp', { code: code.input.value.trim() })),
    }),
  );
}

/** Nothing where this browser or this address makes none: the app stands below. */
function passkeyChoice(): Node[] {
  if (!knowsPasskeys() || namedAddress() !== null) return [];
  const fault = faultLine();
  const button = make('button', { type: 'button', className: 'plain-button' }, 'Make a passkey');
  button.addEventListener('click', () => {
    fault.say(null);
    button.disabled = true;
    addPasskey()
      .then(showStep)
      .catch((error: unknown) => fault.say(error instanceof Error ? error.message : String(error)))
      .finally(() => (button.disabled = false));
  });
  const words =
    `A finger, a face or a PIN of this device signs you in, without the password. It is good at ${location.hostname} alone: ` +
    'at another address you sign in with the password and a recovery code, and can add a passkey there.';
  return [make('h2', {}, 'A passkey'), make('p', {}, words), button, fault.element];
}

async function addPasskey(): Promise<Step> {
  const { options } = await authCall<PasskeyOptionsAnswer>('POST', 'setup/passkey/options', { headers, body: {} });
  return send('passkey', { name: 'First device', response: await makePasskey(options) });
}

/** Before anything is typed, because a set-up goes on only where it began. */
function wayToPasskeys(): Node[] {
  const there = namedAddress();
  if (there === null) return [];
  const words = `Here it goes on with an authenticator app. A passkey needs a name: ${there}. `;
  return [make('p', { className: 'muted small' }, words, make('a', { href: `${there}/setup#${token}` }, 'Open it there'))];
}

function showRecovery(): void {
  show(
    'Recovery codes',
    steps(3),
    make(
      'p',
      {},
      'Ten codes let you in when the app or the passkey is lost, each once. They are shown this one time: keep them where your phone is not.',
    ),
    form({
      parts: [],
      button: 'Show the codes',
      busy: 'Making them',
      onSubmit: async () =>
        showCodes(
          (await authCall<{ recovery_codes: string[] }>('POST', 'setup/recovery-codes', { headers, body: {} })).recovery_codes,
        ),
    }),
  );
}

function showCodes(codes: readonly string[]): void {
  const text = `${codes.join('\n')}\n`;
  const copy = make('button', { type: 'button', className: 'plain-button' }, 'Copy');
  copy.addEventListener('click', () => void navigator.clipboard.writeText(text).then(() => (copy.textContent = 'Copied')));
  const save = make(
    'a',
    {
      className: 'plain-button',
      href: URL.createObjectURL(new Blob([text], { type: 'text/plain' })),
      download: 'recovery-codes.txt',
    },
    'Download',
  );
  const code = field({ id: 'code', type: 'text', label: 'Type one of them, to prove that you have them', autocomplete: 'off' });
  show(
    'Recovery codes',
    steps(3),
    make('ol', { className: 'codes' }, ...codes.map((one) => make('li', {}, make('code', {}, one)))),
    make('p', { className: 'row' }, copy, save),
    form({
      parts: code.parts,
      button: 'Finish',
      busy: 'Finishing',
      async onSubmit() {
        await send('finish', { code: code.input.value.trim() });
        sessionStorage.removeItem(place);
        location.replace('/welcome/engine');
      },
    }),
  );
}

const steps = (now: number): Node => make('p', { className: 'muted small' }, `Step ${now} of 3`);

function showEnded(words: string): void {
  show('This link is over', make('p', {}, words), make('p', {}, make('a', { href: '/login' }, 'Sign in')));
}

try {
  if (token === '') showEnded('Open the link that ./svc auth setup prints: it is good once, for 15 minutes.');
  else showStep(await authCall<Step>('GET', 'setup', { headers }));
} catch (error) {
  if (error instanceof AuthFault && error.status === 401) showEnded(error.message);
  else if (error instanceof AuthFault) show('The login cannot be set up now', make('p', {}, error.message));
  else show('The service cannot be reached', make('p', {}, 'Check that it runs, then load this page again.'));
}
