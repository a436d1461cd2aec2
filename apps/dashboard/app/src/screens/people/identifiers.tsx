import { t } from '@svc/chat-ui/language/t.ts';
import type { Identifier, Principal } from '@svc/contract/trust.ts';
import { type FormEvent, useState } from 'react';
import { FormButtons } from '../../parts/form-buttons.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { useAct } from '../../parts/query.ts';
import { channelExample, pathOf, trustPaths } from './trust-words.ts';

type Props = { person: Principal; people: readonly Principal[] };

const nameOf = ({ surface, value }: Pick<Identifier, 'surface' | 'value'>): string => `${surface} ${value}`;

/** The names that a person writes under: linking, unlinking, and moving one to another person. */
export function Identifiers({ person, people }: Props) {
  const [moved, setMoved] = useState<Identifier | null>(null);
  const unlink = useAct({ changes: trustPaths, done: t('No longer known by it.') });
  const others = people.filter(({ id }) => id !== person.id);
  return (
    <section className="stack" aria-label={t('Known by')}>
      <h3>{t('Known by')}</h3>
      {person.identifiers.length === 0 && <p className="muted">{t('Nothing yet: no sender is recognized as them.')}</p>}
      <ul className="rows-list">
        {person.identifiers.map((identifier) => (
          <li key={identifier.id} className="line">
            <span className="path">{nameOf(identifier)}</span>
            <span className="row-buttons">
              {others.length > 0 && (
                <button
                  type="button"
                  className="plain-button"
                  aria-label={t('Move {name}', { name: nameOf(identifier) })}
                  onClick={() => setMoved(identifier)}
                >
                  {t('Move')}
                </button>
              )}
              <button
                type="button"
                className="plain-button"
                aria-label={t('Unlink {name}', { name: nameOf(identifier) })}
                disabled={unlink.isPending}
                onClick={() =>
                  unlink.mutate({ method: 'DELETE', path: `/core/trust/identifiers/${encodeURIComponent(identifier.id)}` })
                }
              >
                {t('Unlink')}
              </button>
            </span>
          </li>
        ))}
      </ul>
      <LinkForm person={person} />
      {moved !== null && <Move identifier={moved} person={person} others={others} onClose={() => setMoved(null)} />}
    </section>
  );
}

function LinkForm({ person }: Pick<Props, 'person'>) {
  const [surface, setSurface] = useState('');
  const [value, setValue] = useState('');
  const link = useAct({ changes: trustPaths, done: t('Linked.'), onDone: () => setValue('') });
  const add = (event: FormEvent) => {
    event.preventDefault();
    link.mutate({
      method: 'POST',
      path: `${pathOf(person)}/identifiers`,
      body: { surface: surface.trim(), value: value.trim() },
    });
  };
  return (
    <form className="in-row" onSubmit={add}>
      <Field label={t('Channel')}>
        {(props) => (
          <input
            {...props}
            value={surface}
            maxLength={32}
            placeholder={channelExample}
            onChange={({ target }) => setSurface(target.value)}
          />
        )}
      </Field>
      <Field label={t('Name or number there')}>
        {(props) => <input {...props} value={value} maxLength={256} onChange={({ target }) => setValue(target.value)} />}
      </Field>
      <button type="submit" className="plain-button" disabled={link.isPending || surface.trim() === '' || value.trim() === ''}>
        {t('Link')}
      </button>
    </form>
  );
}

type MoveProps = { identifier: Identifier; person: Principal; others: readonly Principal[]; onClose(): void };

/** A single step in the core, so that the name always belongs to someone. */
function Move({ identifier, person, others, onClose }: MoveProps) {
  const { surface, value } = identifier;
  const [to, setTo] = useState(others[0]?.id ?? '');
  const act = useAct({ changes: trustPaths, done: t('Moved.'), onDone: onClose });
  return (
    <Dialog title={t('Move {name}', { name: nameOf(identifier) })} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          act.mutate({ method: 'POST', path: `${pathOf({ id: to })}/identifiers`, body: { surface, value, from: person.id } });
        }}
      >
        <Field label={t('To whom')} hint={t("Messages under this name then have that person's rights.")}>
          {(props) => (
            <select {...props} value={to} onChange={({ target }) => setTo(target.value)}>
              {others.map(({ id, display_name: name, key }) => (
                <option key={id} value={id}>
                  {name === key ? name : `${name} (${key})`}
                </option>
              ))}
            </select>
          )}
        </Field>
        <FormButtons submit={t('Move name')} isOff={act.isPending} onClose={onClose} />
      </form>
    </Dialog>
  );
}
