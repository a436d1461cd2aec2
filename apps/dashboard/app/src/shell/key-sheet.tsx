import { useState } from 'react';
import { Dialog } from '../parts/dialog.tsx';
import { destinations } from './destinations.ts';
import { hasLetterKeys, keepLetterKeys } from './letter-keys.ts';

const keys: readonly [readonly string[], string][] = [
  [['Ctrl or ⌘', 'K'], 'Go to a screen or a session'],
  [['?'], 'These keys'],
  [['/'], 'Search what was said'],
  [['Alt', '↑ or ↓'], 'The session before or after'],
  [['Ctrl or ⌘', 'F'], 'Find in the conversation'],
  [['Enter'], 'Send the message'],
  [['Ctrl or ⌘', '.'], 'Stop the turn'],
  [['Esc'], 'Close what is open'],
];

/** What each key does, and the switch for single letters. */
export function KeySheet({ onClose }: { onClose(): void }) {
  const [isOn, setOn] = useState(hasLetterKeys);
  const change = (on: boolean) => {
    keepLetterKeys(on);
    setOn(on);
  };
  return (
    <Dialog title="Keys" onClose={onClose}>
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
        Single letters and signs are commands
      </label>
    </Dialog>
  );
}
