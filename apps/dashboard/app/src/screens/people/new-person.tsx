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
import { keyOf } from './let-in.tsx';
import { trustPaths } from './trust-words.ts';

/** Makes a person, with a role. How they are known on a channel is added afterwards, or by an invitation. */
export function NewPerson({ roles, onClose }: { roles: readonly Role[]; onClose(): void }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState('guest');
  const [scope, setScope] = useState<Grant['scope']>({});
  const [end, setEnd] = useState<End>(forGood);
  const [isBusy, setBusy] = useState(false);
  const key = keyOf(name);

  const add = async () => {
    setBusy(true);
    try {
      const person = await call<Principal>('POST', '/core/trust/principals', { body: { key, display_name: name.trim() } });
      await call('POST', `/core/trust/principals/${encodeURIComponent(person.id)}/grants`, {
        body: { role_id: role, scope, expires_at: endOf(end) },
      });
      toast(t('{name} is added.', { name: name.trim() }));
      onClose();
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), 'fault');
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
        <Field label={t('Name')} hint={key === '' ? t('At least one letter or digit.') : t('In commands: {name}', { name: key })}>
          {(props) => (
            <input {...props} value={name} maxLength={80} autoComplete="off" onChange={({ target }) => setName(target.value)} />
          )}
        </Field>
        <RoleField roles={roles} role={role} onRole={setRole} />
        <PlaceField scope={scope} onScope={setScope} />
        <EndField end={end} onEnd={setEnd} />
        <FormButtons
          submit={t('Add person')}
          isOff={isBusy || key === '' || endFault(end) !== null || !isPlace(scope)}
          onClose={onClose}
        />
      </form>
    </Dialog>
  );
}
