import type { Principal, Role } from '@svc/contract/trust.ts';
import { type FormEvent, useState } from 'react';
import { Confirm, Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { fullTime } from '../../parts/format.ts';
import { useAct } from '../../parts/query.ts';
import { RoleField, SpanField } from './role-fields.tsx';
import { endOf, grantWords, isLastOwner, isOwnerGrant, trustPaths } from './trust-words.ts';

type Props = { person: Principal; people: readonly Principal[]; roles: readonly Role[]; onClose(): void };

/** One person: what they may, how they are known, and changing both. */
export function PersonDialog({ person, people, roles, onClose }: Props) {
  const isLast = isLastOwner(people, roles, person);
  return (
    <Dialog title={person.display_name} onClose={onClose} wide>
      <div className="stack">
        <p className="muted small">
          <span className="path">{person.key}</span>, known since {fullTime(person.created_at)}
        </p>
        <Grants person={person} roles={roles} isLast={isLast} />
        <Identifiers person={person} />
        <Standing person={person} isLast={isLast} onClose={onClose} />
      </div>
    </Dialog>
  );
}

const pathOf = ({ id }: Principal): string => `/core/trust/principals/${encodeURIComponent(id)}`;
const lastOwner = 'The last owner stays one: make somebody else the owner first.';

function Grants({ person, roles, isLast }: { person: Principal; roles: readonly Role[]; isLast: boolean }) {
  const [role, setRole] = useState('guest');
  const [days, setDays] = useState('');
  const grant = useAct({ changes: trustPaths, done: 'The role is given.' });
  const revoke = useAct({ changes: trustPaths, done: 'The role is taken away.' });
  return (
    <section className="stack" aria-label="Roles">
      <h3>Roles</h3>
      <ul className="rows-list">
        {person.grants.map((one) => {
          const isKept = isLast && isOwnerGrant(roles, one) && one.expires_at === null;
          return (
            <li key={one.id} className="line">
              <span>{grantWords(one)}</span>
              <button
                type="button"
                className="plain-button"
                disabled={isKept || revoke.isPending}
                onClick={() => revoke.mutate({ method: 'DELETE', path: `/core/trust/grants/${encodeURIComponent(one.id)}` })}
              >
                Take away {one.role}
              </button>
              {isKept && <p className="muted small">{lastOwner}</p>}
            </li>
          );
        })}
      </ul>
      <form
        className="in-row"
        onSubmit={(event) => {
          event.preventDefault();
          grant.mutate({ method: 'POST', path: `${pathOf(person)}/grants`, body: { role_id: role, expires_at: endOf(days) } });
        }}
      >
        <RoleField roles={roles} role={role} onRole={setRole} />
        <SpanField days={days} onDays={setDays} />
        <button type="submit" className="plain-button" disabled={grant.isPending}>
          Give role
        </button>
      </form>
    </section>
  );
}

function Identifiers({ person }: { person: Principal }) {
  const [surface, setSurface] = useState('');
  const [value, setValue] = useState('');
  const link = useAct({ changes: trustPaths, done: 'Linked.', onDone: () => setValue('') });
  const unlink = useAct({ changes: trustPaths, done: 'No longer known by it.' });
  const add = (event: FormEvent) => {
    event.preventDefault();
    link.mutate({
      method: 'POST',
      path: `${pathOf(person)}/identifiers`,
      body: { surface: surface.trim(), value: value.trim() },
    });
  };
  return (
    <section className="stack" aria-label="Known by">
      <h3>Known by</h3>
      <ul className="rows-list">
        {person.identifiers.map(({ id, surface: on, value: as }) => (
          <li key={id} className="line">
            <span className="path">
              {on} {as}
            </span>
            <button
              type="button"
              className="plain-button"
              aria-label={`Unlink ${on} ${as}`}
              disabled={unlink.isPending}
              onClick={() => unlink.mutate({ method: 'DELETE', path: `/core/trust/identifiers/${encodeURIComponent(id)}` })}
            >
              Unlink
            </button>
          </li>
        ))}
      </ul>
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
    </section>
  );
}

function Standing({ person, isLast, onClose }: { person: Principal; isLast: boolean; onClose(): void }) {
  const [isAsking, setAsking] = useState(false);
  const isActive = person.status === 'active';
  const change = useAct({
    changes: trustPaths,
    done: isActive ? `${person.display_name} is disabled.` : `${person.display_name} is let in again.`,
  });
  const remove = useAct({ changes: trustPaths, done: `${person.display_name} is removed.`, onDone: onClose });
  return (
    <section className="stack" aria-label="Standing">
      <p className="row-buttons">
        <button
          type="button"
          className="plain-button"
          disabled={(isActive && isLast) || change.isPending}
          onClick={() =>
            change.mutate({ method: 'PATCH', path: pathOf(person), body: { status: isActive ? 'disabled' : 'active' } })
          }
        >
          {isActive ? 'Disable person' : 'Let in again'}
        </button>
        <button type="button" className="danger" disabled={isLast} onClick={() => setAsking(true)}>
          Remove person
        </button>
      </p>
      {isLast && <p className="muted small">{lastOwner}</p>}
      {isAsking && (
        <Confirm
          title={`Remove ${person.display_name}?`}
          button="Remove person"
          isBusy={remove.isPending}
          onClose={() => setAsking(false)}
          onConfirm={() => remove.mutate({ method: 'DELETE', path: pathOf(person) })}
        >
          <p>
            Their roles and what they are known by are removed: who writes from there is a stranger again. What was said stays.
          </p>
        </Confirm>
      )}
    </section>
  );
}
