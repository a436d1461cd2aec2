import '@svc/chat-ui/style/tokens.css';
import '@svc/chat-ui/style/base.css';
import './entry/entry.css';
import { authCall, nextPage } from './entry/auth-api.ts';
import { field, form, make, show } from './entry/dom.ts';

const name = field({ id: 'name', type: 'text', label: 'Name', autocomplete: 'username' });
const password = field({ id: 'password', type: 'password', label: 'Password', autocomplete: 'current-password' });
const code = field({
  id: 'code',
  type: 'text',
  label: 'Code',
  hint: 'Six digits of your authenticator app, or one of your recovery codes.',
  autocomplete: 'one-time-code',
});

show(
  'Sign in',
  form({
    parts: [...name.parts, ...password.parts, ...code.parts],
    button: 'Sign in',
    busy: 'Signing in',
    async onSubmit() {
      await authCall('POST', 'login', {
        body: { name: name.input.value.trim(), password: password.input.value, code: code.input.value.trim() },
      });
      location.replace(nextPage(location.search));
    },
  }),
  make(
    'p',
    { className: 'muted small' },
    'No login yet, or locked out? Run ',
    make('code', {}, './svc auth setup'),
    ' or ',
    make('code', {}, './svc auth reset'),
    ' where the service is installed, and open the link that it prints.',
  ),
);
