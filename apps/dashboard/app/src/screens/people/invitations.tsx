import { t } from '@svc/chat-ui/language/t.ts';
import type { Invitation, NewInvitation } from '@svc/contract/pairing.ts';
import type { Principal, Role } from '@svc/contract/trust.ts';
import { Mail } from 'lucide-react';
import { useState } from 'react';
import { CopyButton } from '../../parts/copy-button.tsx';
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
  const revoke = useAct({ changes: [path], done: t('The invitation is taken back.') });
  return (
    <Section
      title={t('Invitations')}
      actions={
        <button type="button" className="plain-button" onClick={() => setMaking(true)}>
          <Mail aria-hidden size={16} /> {t('Invite a person')}
        </button>
      }
    >
      <Loaded query={query} rows={1}>
        {({ invitations }) =>
          invitations.length === 0 ? (
            <p className="muted">{t('No invitation is open.')}</p>
          ) : (
            <ul className="rows-list">
              {invitations.map((invitation) => (
                <li key={invitation.id} className="line">
                  <span>{invitationWords(invitation)}</span>
                  <button
                    type="button"
                    className="plain-button"
                    disabled={revoke.isPending}
                    onClick={() => revoke.mutate({ method: 'DELETE', path: `${path}/${encodeURIComponent(invitation.id)}` })}
                  >
                    {t('Take back')}
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

/** For whom, with which role and where, as far as that is set. */
function invitationWords({ principal, name, role, surface: channel, expires_at: end }: Invitation): string {
  const who = principal ?? name ?? t('Anyone with the code');
  const when = relativeTime(end);
  if (role !== null && channel !== null) return t('{who} as {role} on {channel}, ends {when}', { who, role, channel, when });
  if (role !== null) return t('{who} as {role}, ends {when}', { who, role, when });
  if (channel !== null) return t('{who} on {channel}, ends {when}', { who, channel, when });
  return t('{who}, ends {when}', { who, when });
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
      <Dialog key="made" title={t('The invitation')} onClose={onClose}>
        <div className="stack">
          <p>
            {t(
              'Send this code to them. They write it to the assistant on a channel of yours; it works once, and is shown only once.',
            )}
          </p>
          <p>
            <code className="code">{code}</code>
          </p>
          <p className="row-buttons">
            <CopyButton text={code}>{t('Copy code')}</CopyButton>
          </p>
        </div>
      </Dialog>
    );
  return (
    <Dialog title={t('Invite a person')} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          act.mutate({ method: 'POST', path, body });
        }}
      >
        <Field label={t('Who')}>
          {(props) => (
            <select {...props} value={person} onChange={({ target }) => setPerson(target.value)}>
              <option value="">{t('A new person')}</option>
              {people.map(({ id, key, display_name: known }) => (
                <option key={id} value={key}>
                  {t('{name}, on one more channel', { name: known })}
                </option>
              ))}
            </select>
          )}
        </Field>
        {person === '' && (
          <>
            <Field label={t('Name')} hint={t('Leave empty to use the name they have there.')}>
              {(props) => <input {...props} value={name} maxLength={80} onChange={({ target }) => setName(target.value)} />}
            </Field>
            <RoleField roles={roles} role={role} onRole={setRole} />
          </>
        )}
        <FormButtons submit={t('Make invitation')} isOff={act.isPending} onClose={onClose} />
      </form>
    </Dialog>
  );
}
