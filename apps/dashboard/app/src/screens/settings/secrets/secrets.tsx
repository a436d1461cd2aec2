import { plural, t } from '@svc/chat-ui/language/t.ts';
import type { SecretEntry, SecretList } from '@svc/contract/secret.ts';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Confirm } from '../../../parts/dialog.tsx';
import { Loaded, Section } from '../../../parts/page.tsx';
import { useAct, useProvenApi } from '../../../parts/query.ts';
import { Status } from '../../../parts/status.tsx';
import { SetSecret, secretsPath } from './set-secret.tsx';
import { factsOf, removableFrom, stateOf, usersOf } from './secret-words.ts';

/** The names of secrets, where each is stored and what uses it. Values are written, never read. */
export function Secrets() {
  const query = useProvenApi<SecretList>(secretsPath);
  const [isAdding, setAdding] = useState(false);
  const vault = query.data?.vault;
  return (
    <Section
      title={t('Secrets')}
      actions={
        <button type="button" className="plain-button" disabled={vault === undefined} onClick={() => setAdding(true)}>
          {t('Add secret')}
        </button>
      }
    >
      <Loaded query={query}>
        {(list) => (
          <>
            <Faults list={list} />
            {list.secrets.length === 0 && (
              <p className="muted">
                {t('There is none. A channel that is added puts its own here; so does an engine with a key.')}
              </p>
            )}
            <ul className="rows-list">
              {list.secrets.map((secret) => (
                <SecretRow key={secret.name} secret={secret} vault={list.vault} />
              ))}
            </ul>
          </>
        )}
      </Loaded>
      {isAdding && vault !== undefined && (
        <SetSecret vault={vault} others={query.data?.secrets ?? []} onClose={() => setAdding(false)} />
      )}
    </Section>
  );
}

function Faults({ list: { vault, faults } }: { list: SecretList }) {
  return (
    <>
      {vault.fault !== null && (
        <p className="as-of" role="status">
          {vault.fault}{' '}
          <Link to="/settings/$section" params={{ section: 'vault' }}>
            {t('Go to the vault')}
          </Link>
        </p>
      )}
      {faults.map((fault) => (
        <p key={fault} className="fault small" role="status">
          {fault}
        </p>
      ))}
    </>
  );
}

function SecretRow({ secret, vault }: { secret: SecretEntry; vault: SecretList['vault'] }) {
  const { name, used_by: users } = secret;
  const [shown, setShown] = useState<'set' | 'delete' | null>(null);
  const state = stateOf(secret, vault);
  const facts = factsOf(secret);
  const isSet = secret.places.length > 0;
  return (
    <li>
      <div className="line-between">
        <b className="path">{name}</b>
        <Status {...state} />
      </div>
      {facts !== '' && <p className="muted small">{facts}</p>}
      {users.length > 0 && <p className="small">{t('Used by {users}', { users: usersOf(users) })}</p>}
      <p className="row-buttons">
        <button
          type="button"
          className="plain-button"
          aria-label={isSet ? t('Replace value of {name}', { name }) : t('Set value of {name}', { name })}
          onClick={() => setShown('set')}
        >
          {isSet ? t('Replace value') : t('Set value')}
        </button>
        {users
          .filter(({ kind }) => kind === 'connector')
          .map((user) => (
            <Restart key={user.id} id={user.id} name={user.name} />
          ))}
        {removableFrom(secret) !== null && (
          <button
            type="button"
            className="danger"
            aria-label={t('Delete secret {name}', { name })}
            onClick={() => setShown('delete')}
          >
            {t('Delete secret')}
          </button>
        )}
      </p>
      {shown === 'set' && <SetSecret vault={vault} secret={secret} onClose={() => setShown(null)} />}
      {shown === 'delete' && <DeleteSecret secret={secret} onClose={() => setShown(null)} />}
    </li>
  );
}

/** A channel uses the new value after a restart. */
function Restart({ id, name }: { id: string; name: string }) {
  const act = useAct({ changes: ['/manager/instances'], done: t('{name} starts again.', { name }) });
  const path = `/manager/instances/${encodeURIComponent(id)}/restart`;
  return (
    <button type="button" className="plain-button" disabled={act.isPending} onClick={() => act.mutate({ method: 'POST', path })}>
      {t('Restart {name}', { name })}
    </button>
  );
}

function DeleteSecret({ secret, onClose }: { secret: SecretEntry; onClose(): void }) {
  const { name, used_by: users } = secret;
  const act = useAct({ changes: [secretsPath], done: t('{name} is deleted.', { name }), onDone: onClose });
  const from = removableFrom(secret);
  const path = `${secretsPath}/${encodeURIComponent(name)}${from === 'both' ? '' : `?from=${from}`}`;
  return (
    <Confirm
      title={t('Delete {name}?', { name })}
      button={t('Delete secret')}
      isBusy={act.isPending}
      onClose={onClose}
      onConfirm={() => act.mutate({ method: 'DELETE', path })}
    >
      <p>{t('Its value cannot be shown, and cannot be recovered.')}</p>
      {users.length === 0 ? (
        <p>{t('Nothing is known to use it.')}</p>
      ) : (
        <p>
          {plural(
            users.length,
            '{users} uses it. What is running with it keeps it until a restart, and does not work without it afterwards.',
            '{users} use it. What is running with it keeps it until a restart, and does not work without it afterwards.',
            { users: usersOf(users) },
          )}
        </p>
      )}
      {from === 'both' && <p>{t('It is deleted from the vault and from the secrets file.')}</p>}
    </Confirm>
  );
}
