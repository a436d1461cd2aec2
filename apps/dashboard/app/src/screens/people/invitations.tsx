import type { Invitation, NewInvitation } from '@svc/contract/pairing.ts';
import type { Principal, Role } from '@svc/contract/trust.ts';
import { Mail } from 'lucide-react';
import { useState } from 'react';
import { FormButtons } from '../../parts/form-buttons.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { relativeTime } from '../../parts/format.ts';
import { Loaded, Section } from '../../parts/page.tsx';
import { useAct, useApi } from '../../parts/query.ts';
import { RoleField } from './role-fields.tsx';

const path = '/core/trust/invitations';
type Props = { roles: readonly Role[]; people: readonly Principal[] };

/** Codes for people who have not written yet. */
export function Invitations({ roles, people }: Props) {
  const query = useApi<{ invitations: Invitation[] }>(path);
  const [isMaking, setMaking] = useState(false);
  const revoke = useAct({ changes: [path], done: 'The invitation is taken back.' });
  return (
    <Section
      title="Invitations"
      actions={
        <button type="button" className="plain-button" onClick={() => setMaking(true)}>
          <Mail aria-hidden size={16} /> Invite somebody
        </button>
      }
    >
      <Loaded query={query} rows={1}>
        {({ invitations }) =>
          invitations.length === 0 ? (
            <p className="muted">No invitation is open.</p>
          ) : (
            <ul className="rows-list">
              {invitations.map(({ id, principal, name, role, surface, expires_at: end }) => (
                <li key={id} className="line">
                  <span>
                    {principal ?? name ?? 'Whoever has the code'}
                    {role !== null && ` as ${role}`}
                    {surface !== null && ` on ${surface}`}, ends {relativeTime(end)}
                  </span>
                  <button
                    type="button"
                    className="plain-button"
                    disabled={revoke.isPending}
                    onClick={() => revoke.mutate({ method: 'DELETE', path: `${path}/${encodeURIComponent(id)}` })}
                  >
                    Take back
                  </button>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {isMaking && <Invite roles={roles} people={people} onClose={() => setMaking(false)} />}
    </Section>
  );
}

function Invite({ roles, people, onClose }: Props & { onClose(): void }) {
  const [person, setPerson] = useState('');
  const [name, setName] = useState('');
  const [role, setRole] = useState('guest');
  const [code, setCode] = useState<string | null>(null);
  const act = useAct<NewInvitation>({ changes: [path], onDone: (made) => setCode(made.code) });
  const body = person === '' ? { role, ...(name.trim() !== '' && { name: name.trim() }) } : { as: person };
  if (code !== null)
    return (
      <Dialog title="The invitation" onClose={onClose}>
        <div className="stack">
          <p>
            Send this code to them. They write it to the assistant on a channel of yours; it works once, and is shown this one
            time.
          </p>
          <p>
            <code className="code">{code}</code>
          </p>
          <p className="row-buttons">
            <button type="button" className="plain-button" onClick={() => void navigator.clipboard.writeText(code)}>
              Copy code
            </button>
          </p>
        </div>
      </Dialog>
    );
  return (
    <Dialog title="Invite somebody" onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          act.mutate({ method: 'POST', path, body });
        }}
      >
        <Field label="Who">
          {(props) => (
            <select {...props} value={person} onChange={({ target }) => setPerson(target.value)}>
              <option value="">A new person</option>
              {people.map(({ id, key, display_name: known }) => (
                <option key={id} value={key}>
                  {known}, on one more channel
                </option>
              ))}
            </select>
          )}
        </Field>
        {person === '' && (
          <>
            <Field label="Name" hint="Empty: as they call themselves.">
              {(props) => <input {...props} value={name} maxLength={80} onChange={({ target }) => setName(target.value)} />}
            </Field>
            <RoleField roles={roles} role={role} onRole={setRole} />
          </>
        )}
        <FormButtons submit="Make invitation" isOff={act.isPending} onClose={onClose} />
      </form>
    </Dialog>
  );
}
