import type { Identifier, Principal } from '@svc/contract/trust.ts';
import { type FormEvent, useState } from 'react';
import { FormButtons } from '../../parts/form-buttons.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { useAct } from '../../parts/query.ts';
import { pathOf, trustPaths } from './trust-words.ts';

type Props = { person: Principal; people: readonly Principal[] };

/** By what names a person writes: linking one by hand, unlinking it, giving it to somebody else. */
export function Identifiers({ person, people }: Props) {
  const [moved, setMoved] = useState<Identifier | null>(null);
  const unlink = useAct({ changes: trustPaths, done: 'No longer known by it.' });
  const others = people.filter(({ id }) => id !== person.id);
  return (
    <section className="stack" aria-label="Known by">
      <h3>Known by</h3>
      {person.identifiers.length === 0 && <p className="muted">Nothing yet: nobody is taken for them.</p>}
      <ul className="rows-list">
        {person.identifiers.map((identifier) => (
          <li key={identifier.id} className="line">
            <span className="path">
              {identifier.surface} {identifier.value}
            </span>
            <span className="row-buttons">
              {others.length > 0 && (
                <button
                  type="button"
                  className="plain-button"
                  aria-label={`Move ${identifier.surface} ${identifier.value}`}
                  onClick={() => setMoved(identifier)}
                >
                  Move
                </button>
              )}
              <button
                type="button"
                className="plain-button"
                aria-label={`Unlink ${identifier.surface} ${identifier.value}`}
                disabled={unlink.isPending}
                onClick={() =>
                  unlink.mutate({ method: 'DELETE', path: `/core/trust/identifiers/${encodeURIComponent(identifier.id)}` })
                }
              >
                Unlink
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
  const link = useAct({ changes: trustPaths, done: 'Linked.', onDone: () => setValue('') });
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
      <Field label="Channel">
        {(props) => (
          <input
            {...props}
            value={surface}
            maxLength={32}
            placeholder="messenger"
            onChange={({ target }) => setSurface(target.value)}
          />
        )}
      </Field>
      <Field label="Name or number there">
        {(props) => <input {...props} value={value} maxLength={256} onChange={({ target }) => setValue(target.value)} />}
      </Field>
      <button type="submit" className="plain-button" disabled={link.isPending || surface.trim() === '' || value.trim() === ''}>
        Link
      </button>
    </form>
  );
}

type MoveProps = { identifier: Identifier; person: Principal; others: readonly Principal[]; onClose(): void };

/** One step in the core: at no moment it is nobody's. */
function Move({ identifier: { surface, value }, person, others, onClose }: MoveProps) {
  const [to, setTo] = useState(others[0]?.id ?? '');
  const act = useAct({ changes: trustPaths, done: 'Moved.', onDone: onClose });
  return (
    <Dialog title={`Move ${surface} ${value}`} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          act.mutate({ method: 'POST', path: `${pathOf({ id: to })}/identifiers`, body: { surface, value, from: person.id } });
        }}
      >
        <Field label="To whom" hint="Messages under this name then have that person's rights.">
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
        <FormButtons submit="Move name" isOff={act.isPending} onClose={onClose} />
      </form>
    </Dialog>
  );
}
