import { t } from '@svc/chat-ui/language/t.ts';
import type { Grant, Principal, Role } from '@svc/contract/trust.ts';
import { useState } from 'react';
import { useAct } from '../../parts/query.ts';
import { Status } from '../../parts/status.tsx';
import { type End, EndField, endFault, endOf, forADay } from './end-field.tsx';
import { isPlace, PlaceField } from './place-field.tsx';
import { RoleField } from './role-fields.tsx';
import { grantWords, hasEnded, isOwnerGrant, lastOwner, pathOf, trustPaths } from './trust-words.ts';

type Props = { person: Principal; roles: readonly Role[]; isLast: boolean };

/** The grants of a person: giving a role, limited by place and time, changing its end, revoking it. */
export function Grants({ person, roles, isLast }: Props) {
  return (
    <section className="stack" aria-label={t('Roles')}>
      <h3>{t('Roles')}</h3>
      {person.grants.length === 0 && <p className="muted">{t('None. A person without a role is refused.')}</p>}
      <ul className="rows-list">
        {person.grants.map((grant) => (
          <GrantRow
            key={grant.id}
            person={person}
            grant={grant}
            isKept={isLast && isOwnerGrant(roles, grant) && grant.expires_at === null && isEverywhere(grant)}
          />
        ))}
      </ul>
      <GiveRole person={person} roles={roles} />
    </section>
  );
}

const isEverywhere = ({ scope }: Grant): boolean => Object.keys(scope).length === 0;

function GrantRow({ person, grant, isKept }: { person: Principal; grant: Grant; isKept: boolean }) {
  const [isMoving, setMoving] = useState(false);
  const [end, setEnd] = useState<End>(forADay);
  const revoke = useAct({ changes: trustPaths, done: t('The role is revoked.') });
  const move = useAct({ changes: trustPaths, done: t('The end of the role is changed.'), onDone: () => setMoving(false) });
  const { id, role, role_id, scope } = grant;
  return (
    <li>
      <Status kind={hasEnded(grant) ? 'off' : 'ok'} words={grantWords(grant)} />
      {hasEnded(grant) && <p className="muted small">{t('It has expired and no longer applies.')}</p>}
      <p className="row-buttons">
        <button type="button" className="plain-button" disabled={isKept} onClick={() => setMoving(!isMoving)}>
          {t('Change when {role} ends', { role })}
        </button>
        <button
          type="button"
          className="plain-button"
          disabled={isKept || revoke.isPending}
          onClick={() => revoke.mutate({ method: 'DELETE', path: `/core/trust/grants/${encodeURIComponent(id)}` })}
        >
          {t('Revoke {role}', { role })}
        </button>
      </p>
      {isKept && <p className="muted small">{lastOwner}</p>}
      {isMoving && (
        <form
          className="in-row"
          onSubmit={(event) => {
            event.preventDefault();
            move.mutate({
              method: 'POST',
              path: `${pathOf(person)}/grants`,
              body: { role_id, scope, expires_at: endOf(end) },
            });
          }}
        >
          <EndField label={t('New end')} end={end} onEnd={setEnd} />
          <button type="submit" className="primary" disabled={move.isPending || endFault(end) !== null}>
            {t('Save end')}
          </button>
        </form>
      )}
    </li>
  );
}

function GiveRole({ person, roles }: Pick<Props, 'person' | 'roles'>) {
  const [role, setRole] = useState('guest');
  const [scope, setScope] = useState<Grant['scope']>({});
  const [end, setEnd] = useState<End>(forADay);
  const give = useAct({ changes: trustPaths, done: t('The role is given.') });
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        give.mutate({
          method: 'POST',
          path: `${pathOf(person)}/grants`,
          body: { role_id: role, scope, expires_at: endOf(end) },
        });
      }}
    >
      <RoleField roles={roles} role={role} onRole={setRole} />
      <div className="in-row">
        <PlaceField scope={scope} onScope={setScope} />
        <EndField end={end} onEnd={setEnd} />
        <button type="submit" className="plain-button" disabled={give.isPending || endFault(end) !== null || !isPlace(scope)}>
          {t('Give role')}
        </button>
      </div>
    </form>
  );
}
