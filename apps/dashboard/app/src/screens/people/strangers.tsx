import type { PendingIdentity } from '@svc/contract/pairing.ts';
import type { Principal, Role } from '@svc/contract/trust.ts';
import { useState } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { counted, relativeTime } from '../../parts/format.ts';
import { useAct } from '../../parts/query.ts';
import { RoleField } from './role-fields.tsx';
import { trustPaths } from './trust-words.ts';

type Props = { pending: readonly PendingIdentity[]; people: readonly Principal[]; roles: readonly Role[] };

/** Who has written and was refused, because nobody knows them. */
export function Strangers({ pending, people, roles }: Props) {
  const [chosen, setChosen] = useState<PendingIdentity | null>(null);
  const dismiss = useAct({ changes: trustPaths, done: 'Taken off the list. Who writes again comes back to it.' });
  if (pending.length === 0) return <p className="muted">None. Who writes and is not known comes here.</p>;
  return (
    <>
      <ul className="rows-list">
        {pending.map((stranger) => (
          <li key={stranger.id}>
            <p>
              <b>{stranger.name ?? stranger.value}</b> on {stranger.surface}
              {stranger.name !== null && <span className="muted"> as {stranger.value}</span>}
            </p>
            <p className="muted small">
              {counted(stranger.count, 'message')}, last {relativeTime(stranger.last_seen)}
              {stranger.code !== null &&
                `. They were shown the code ${stranger.code}: ask them for it, if you are not sure who it is`}
              .
            </p>
            <p className="row-buttons">
              <button type="button" className="primary" onClick={() => setChosen(stranger)}>
                Let in
              </button>
              <button
                type="button"
                className="plain-button"
                disabled={dismiss.isPending}
                onClick={() =>
                  dismiss.mutate({ method: 'DELETE', path: `/core/trust/pending/${encodeURIComponent(stranger.id)}` })
                }
              >
                Take off the list
              </button>
            </p>
          </li>
        ))}
      </ul>
      {chosen !== null && <LetIn stranger={chosen} people={people} roles={roles} onClose={() => setChosen(null)} />}
    </>
  );
}

const newPerson = '';

function LetIn({
  stranger,
  people,
  roles,
  onClose,
}: { stranger: PendingIdentity } & Omit<Props, 'pending'> & { onClose(): void }) {
  const [person, setPerson] = useState(newPerson);
  const [name, setName] = useState(stranger.name ?? '');
  const [role, setRole] = useState('guest');
  const act = useAct({ changes: trustPaths, done: `${stranger.name ?? stranger.value} is let in.`, onDone: onClose });
  const key = keyOf(name);
  const body = person === newPerson ? { principal: { key, display_name: name.trim(), role } } : { principal_id: person };
  return (
    <Dialog title={`Let in ${stranger.name ?? stranger.value}`} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          act.mutate({ method: 'POST', path: `/core/trust/pending/${encodeURIComponent(stranger.id)}/link`, body });
        }}
      >
        <Field label="Who it is">
          {(props) => (
            <select {...props} value={person} onChange={({ target }) => setPerson(target.value)}>
              <option value={newPerson}>A new person</option>
              {people.map(({ id, display_name: known }) => (
                <option key={id} value={id}>
                  {known}
                </option>
              ))}
            </select>
          )}
        </Field>
        {person === newPerson && (
          <>
            <Field label="Name">
              {(props) => <input {...props} value={name} maxLength={80} onChange={({ target }) => setName(target.value)} />}
            </Field>
            <RoleField roles={roles} role={role} onRole={setRole} />
          </>
        )}
        <p className="row-buttons">
          <button type="submit" className="primary" disabled={act.isPending || (person === newPerson && key === '')}>
            Let in
          </button>
          <button type="button" className="plain-button" onClick={onClose}>
            Cancel
          </button>
        </p>
      </form>
    </Dialog>
  );
}

/** What a person is called in commands: of the name's plain letters. */
export const keyOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 64);
