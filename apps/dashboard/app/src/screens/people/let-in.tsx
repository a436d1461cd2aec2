import { t } from '@svc/chat-ui/language/t.ts';
import type { PendingIdentity } from '@svc/contract/pairing.ts';
import type { Grant, Principal, Role } from '@svc/contract/trust.ts';
import { useState } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { useAct } from '../../parts/query.ts';
import { type End, EndField, endFault, endOf } from './end-field.tsx';
import { freeKeyOf } from './person-key.ts';
import { isPlace, PlaceField } from './place-field.tsx';
import { RoleField } from './role-fields.tsx';
import { trustPaths } from './trust-words.ts';

const newPerson = '';

type Props = {
  stranger: PendingIdentity;
  /** The suggested end of their role. */
  end: End;
  people: readonly Principal[];
  roles: readonly Role[];
  onClose(): void;
};

/** Lets a stranger in: as a new person with a role, limited by place and time, or as a known person. */
export function LetIn({ stranger, end: offered, people, roles, onClose }: Props) {
  const [person, setPerson] = useState(newPerson);
  const [name, setName] = useState(stranger.name ?? '');
  const [role, setRole] = useState('guest');
  const [scope, setScope] = useState<Grant['scope']>({});
  const [end, setEnd] = useState<End>(offered);
  const isNew = person === newPerson;
  const called = stranger.name ?? stranger.value;
  const act = useAct({ changes: trustPaths, done: t('{name} is let in.', { name: called }), onDone: onClose });
  const key = freeKeyOf(name, people);
  return (
    <Dialog title={t('Let in {name}', { name: called })} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          const principal = { key, display_name: name.trim(), role, scope, expires_at: endOf(end) };
          const body = isNew ? { principal } : { principal_id: person };
          act.mutate({ method: 'POST', path: `/core/trust/pending/${encodeURIComponent(stranger.id)}/link`, body });
        }}
      >
        <Field label={t('Who it is')}>
          {(props) => (
            <select {...props} value={person} onChange={({ target }) => setPerson(target.value)}>
              <option value={newPerson}>{t('A new person')}</option>
              {people.map(({ id, display_name: known }) => (
                <option key={id} value={id}>
                  {known}
                </option>
              ))}
            </select>
          )}
        </Field>
        {isNew && (
          <>
            <Field label={t('Name')} hint={t('In commands: {name}', { name: key })}>
              {(props) => <input {...props} value={name} maxLength={80} onChange={({ target }) => setName(target.value)} />}
            </Field>
            <RoleField roles={roles} role={role} onRole={setRole} />
            <PlaceField scope={scope} onScope={setScope} />
            <EndField end={end} onEnd={setEnd} />
          </>
        )}
        <p className="row-buttons">
          <button
            type="submit"
            className="primary"
            disabled={act.isPending || (isNew && (name.trim() === '' || endFault(end) !== null || !isPlace(scope)))}
          >
            {t('Let in')}
          </button>
          <button type="button" className="plain-button" onClick={onClose}>
            {t('Cancel')}
          </button>
        </p>
      </form>
    </Dialog>
  );
}
