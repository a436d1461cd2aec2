import { t } from '@svc/chat-ui/language/t.ts';
import type { Grant, Principal, Role } from '@svc/contract/trust.ts';
import { useState } from 'react';
import { FormButtons } from '../../parts/form-buttons.tsx';
import { call } from '../../parts/api.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { queryClient, refresh } from '../../parts/query.ts';
import { toast } from '../../parts/toast.tsx';
import { type End, EndField, endFault, endOf, forGood } from './end-field.tsx';
import { isPlace, PlaceField } from './place-field.tsx';
import { RoleField } from './role-fields.tsx';
import { freeKeyOf } from './person-key.ts';
import { trustPaths } from './trust-words.ts';

type Props = { people: readonly Principal[]; roles: readonly Role[]; onClose(): void };

/** Adds a person with a role. Their names on channels are added afterwards, or by an invitation. */
export function NewPerson({ people, roles, onClose }: Props) {
  const [name, setName] = useState('');
  const [role, setRole] = useState('guest');
  const [scope, setScope] = useState<Grant['scope']>({});
  const [end, setEnd] = useState<End>(forGood);
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  // Once the person exists, only the role is tried again.
  const [made, setMade] = useState<Principal | null>(null);
  const key = made?.key ?? freeKeyOf(name, people);

  const add = async () => {
    setBusy(true);
    setFault(null);
    let person = made;
    try {
      person ??= await call<Principal>('POST', '/core/trust/principals', { body: { key, display_name: name.trim() } });
      setMade(person);
      await call('POST', `/core/trust/principals/${encodeURIComponent(person.id)}/grants`, {
        body: { role_id: role, scope, expires_at: endOf(end) },
      });
      toast(t('{name} is added.', { name: name.trim() }));
      onClose();
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      setFault(
        person === null ? words : t('{name} is added, but has no role yet: {fault}', { name: person.display_name, fault: words }),
      );
    } finally {
      setBusy(false);
      await refresh(queryClient, trustPaths);
    }
  };

  return (
    <Dialog title={t('Add a person')} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        <Field label={t('Name')} {...(name.trim() !== '' && { hint: t('In commands: {name}', { name: key }) })}>
          {(props) => (
            <input
              {...props}
              value={name}
              maxLength={80}
              autoComplete="off"
              readOnly={isBusy || made !== null}
              onChange={({ target }) => setName(target.value)}
            />
          )}
        </Field>
        <RoleField roles={roles} role={role} onRole={setRole} />
        <PlaceField scope={scope} onScope={setScope} />
        <EndField end={end} onEnd={setEnd} />
        {fault !== null && (
          <p className="fault" role="alert">
            {fault}
          </p>
        )}
        <FormButtons
          submit={made === null ? t('Add person') : t('Give role')}
          isOff={isBusy || name.trim() === '' || endFault(end) !== null || !isPlace(scope)}
          onClose={onClose}
        />
      </form>
    </Dialog>
  );
}
