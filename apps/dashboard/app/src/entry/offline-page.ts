import { t } from '@svc/chat-ui/language/t.ts';
import { showWaiting } from '@svc/chat-ui/worker/show-waiting.ts';
import { storageName } from '../parts/conversation/storage-name.ts';
import { lastUser } from '../shell/last-user.ts';
import { make } from './dom.ts';

document.title = t('Offline – Assistant');
document
  .querySelector('main')
  ?.append(
    make('h1', {}, t('The assistant cannot be reached')),
    make('p', {}, t('Your messages stay in this browser and are sent when it is back.')),
    make('button', { type: 'button', className: 'primary', id: 'again' }, t('Try again')),
    make('h2', {}, t('Waiting to be sent')),
    make('ul', { id: 'outbox' }),
    make('h2', {}, t('Drafts')),
    make('ul', { id: 'drafts' }),
  );
const user = lastUser();
await showWaiting(user === null ? null : storageName(user));
