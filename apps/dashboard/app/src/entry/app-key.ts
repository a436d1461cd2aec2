import { t } from '@svc/chat-ui/language/t.ts';
import { make } from './dom.ts';
import { qrCode } from './qr-code.ts';

/** The key of an authenticator app, to scan and to type. */
export const appKey = ({ secret, uri }: { secret: string; uri: string }): Node[] => [
  make('p', {}, t('Scan this with it, or type the key into it. Then type the code that it shows.')),
  qrCode(uri),
  make(
    'p',
    {},
    make('span', { className: 'muted' }, `${t('Key:')} `),
    make('code', { className: 'key' }, secret.replaceAll(/(.{4})/g, '$1 ').trim()),
  ),
];
