import { t } from '@svc/chat-ui/language/t.ts';
import type { Principal } from '@svc/contract/trust.ts';
import { useState } from 'react';
import { Field } from '../../parts/field.tsx';
import { useAct } from '../../parts/query.ts';
import { pathOf, trustPaths } from './trust-words.ts';

type Facts = Pick<Principal, 'display_name' | 'notes' | 'bypass_moderation'>;

/** The name of a person, the operator's notes, and whether their messages are moderated. */
export function PersonFacts({ person }: { person: Principal }) {
  const [name, setName] = useState(person.display_name);
  const [notes, setNotes] = useState(person.notes);
  const [bypasses, setBypasses] = useState(person.bypass_moderation);
  // As they were when the dialog was opened: only changed fields are sent, so another person's changes stay.
  const [kept, setKept] = useState<Facts>(person);
  const wanted: Facts = { display_name: name.trim(), notes, bypass_moderation: bypasses };
  const changed = Object.fromEntries(Object.entries(wanted).filter(([field, value]) => kept[field as keyof Facts] !== value));
  const save = useAct({ changes: trustPaths, done: t('Saved.'), onDone: () => setKept(wanted) });
  return (
    <form
      className="stack"
      aria-label={t('Facts')}
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate({ method: 'PATCH', path: pathOf(person), body: changed });
      }}
    >
      <Field label={t('Name')}>
        {(props) => (
          <input {...props} value={name} maxLength={80} autoComplete="off" onChange={({ target }) => setName(target.value)} />
        )}
      </Field>
      <Field label={t('Notes')} hint={t('For you only: no one else sees them, and the assistant does not read them.')}>
        {(props) => (
          <textarea {...props} rows={2} value={notes} maxLength={2000} onChange={({ target }) => setNotes(target.value)} />
        )}
      </Field>
      <label className="check">
        <input type="checkbox" checked={bypasses} onChange={({ target }) => setBypasses(target.checked)} />{' '}
        {t('what they write bypasses moderation')}
      </label>
      <p className="row-buttons">
        <button
          type="submit"
          className="plain-button"
          disabled={save.isPending || wanted.display_name === '' || Object.keys(changed).length === 0}
        >
          {t('Save facts')}
        </button>
      </p>
    </form>
  );
}
