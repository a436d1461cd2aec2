import { t } from '@svc/chat-ui/language/t.ts';
import { isComposing } from '@svc/chat-ui/view/is-composing.ts';
import type { SessionPage } from '@svc/contract/session.ts';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { Dialog } from '../parts/dialog.tsx';
import { useApi } from '../parts/query.ts';
import { settingsSections } from '../screens/settings/sections.ts';
import { destinations } from './destinations.ts';
import { recentPath, titleOf } from './recent-sessions.ts';

type Choice = { id: string; words: string; kind: string; run(): void };
const maxShown = 12;

/** Opens any screen or session by a few letters of its name: a combobox with a list, as the ARIA practices describe it. */
export function Palette({ onClose }: { onClose(): void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  // The dialog focuses its first button when it opens.
  useEffect(() => input.current?.focus(), []);
  const choices = useChoices(text);
  const chosen = choices[Math.min(at, choices.length - 1)];
  const optionId = (choice: Choice) => `${id}-${choice.id}`;
  const run = (choice: Choice) => {
    onClose();
    choice.run();
  };
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0 && choices.length > 0) {
      event.preventDefault();
      setAt((Math.min(at, choices.length - 1) + step + choices.length) % choices.length);
    }
    if (event.key === 'Enter' && !isComposing(event.nativeEvent) && chosen !== undefined) {
      event.preventDefault();
      run(chosen);
    }
  };
  return (
    <Dialog title={t('Go to')} onClose={onClose}>
      <input
        ref={input}
        type="search"
        className="palette-text"
        role="combobox"
        aria-label={t('Screen, session or words to search for')}
        placeholder={t('Screen, session or words to search for')}
        aria-expanded
        aria-autocomplete="list"
        aria-controls={`${id}-list`}
        aria-activedescendant={chosen === undefined ? undefined : optionId(chosen)}
        autoComplete="off"
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setAt(0);
        }}
        onKeyDown={onKey}
      />
      <ul id={`${id}-list`} role="listbox" aria-label={t('Places')} className="palette">
        {choices.map((choice) => (
          // The focus stays in the field, whose keys choose: options are clicked, never focused.
          <li
            key={choice.id}
            id={optionId(choice)}
            role="option"
            aria-selected={choice === chosen}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => run(choice)}
          >
            <span>{choice.words}</span>
            <span className="muted small">{choice.kind}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

/** Destinations whose names have all the typed words, screens first; the last one searches for the words. */
function useChoices(text: string): Choice[] {
  const navigate = useNavigate();
  const { data } = useApi<SessionPage>(recentPath);
  const said = text.trim();
  const words = said.toLowerCase().split(/\s+/);
  const places: Choice[] = [
    ...destinations.map(({ to, name }) => ({ id: to, words: name, kind: t('Screen'), run: () => void navigate({ to }) })),
    ...settingsSections.map(({ id: section, name }) => ({
      id: `settings-${section}`,
      words: name,
      kind: t('Settings'),
      run: () => void navigate({ to: '/settings/$section', params: { section }, search: { text: '', kind: '' } }),
    })),
    ...(data?.sessions ?? []).map((session) => ({
      id: session.conversation_key,
      words: titleOf(session),
      kind: session.surface,
      run: () => void navigate({ to: '/sessions/$key', params: { key: session.conversation_key }, search: { tab: '' } }),
    })),
  ];
  const found = places.filter(({ words: name }) => words.every((word) => name.toLowerCase().includes(word))).slice(0, maxShown);
  if (said === '') return found;
  const search = () => void navigate({ to: '/search', search: { q: said, days: '' } });
  return [...found, { id: 'search', words: t('Search for “{words}”', { words: said }), kind: t('What was said'), run: search }];
}
