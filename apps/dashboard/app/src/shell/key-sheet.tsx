import { t } from '@svc/chat-ui/language/t.ts';
import { useState } from 'react';
import { Dialog } from '../parts/dialog.tsx';
import { destinations } from './destinations.ts';
import { hasLetterKeys, keepLetterKeys } from './letter-keys.ts';

const keys: readonly [readonly string[], string][] = [
  [[t('Ctrl or ⌘'), 'K'], t('Go to a screen or a session')],
  [['?'], t('These keys')],
  [['/'], t('Search what was said')],
  [[t('Alt'), t('↑ or ↓')], t('The session before or after')],
  [[t('Ctrl or ⌘'), 'F'], t('Find in the conversation')],
  [[t('Enter')], t('Send the message')],
  [[t('Ctrl or ⌘'), '.'], t('Stop the turn')],
  [[t('Esc')], t('Close what is open')],
];

/** What each key does, and the switch for single letters. */
export function KeySheet({ onClose }: { onClose(): void }) {
  const [isOn, setOn] = useState(hasLetterKeys);
  const change = (on: boolean) => {
    keepLetterKeys(on);
    setOn(on);
  };
  return (
    <Dialog title={t('Keys')} onClose={onClose}>
      <dl className="key-list">
        {[...keys, ...destinations.map(({ name, letter }) => [['g', letter], name] as const)].map(([names, words]) => (
          <div key={words}>
            <dt>
              {names.map((name) => (
                <kbd key={name}>{name}</kbd>
              ))}
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <label className="check">
        <input type="checkbox" checked={isOn} onChange={({ target }) => change(target.checked)} />
        {t('Single letters and signs are commands')}
      </label>
    </Dialog>
  );
}
