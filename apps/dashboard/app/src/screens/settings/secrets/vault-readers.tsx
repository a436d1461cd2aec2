import { t } from '@svc/chat-ui/language/t.ts';
import type { VaultAgent, VaultAgentAdded, VaultAgentList } from '@svc/contract/vault.ts';
import { useState } from 'react';
import { ConfirmButton } from '../../../parts/dialog-button.tsx';
import { relativeTime } from '../../../parts/format.ts';
import { Loaded } from '../../../parts/page.tsx';
import { useProvenApi } from '../../../parts/query.ts';
import { Status } from '../../../parts/status.tsx';
import { AddReader, changedByReaders, NewReader, readersPath } from './add-reader.tsx';
import { readableSecretsWords } from './secret-words.ts';

/** The readers of the vault. Read when opened, because that requires a second factor, which viewing the vault does not. */
export function VaultReaders() {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="more-fields" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t('Readers: who may ask for secrets')}</summary>
      {isOpen && <Readers />}
    </details>
  );
}

function Readers() {
  const query = useProvenApi<VaultAgentList>(readersPath);
  const [isAdding, setAdding] = useState(false);
  const [added, setAdded] = useState<VaultAgentAdded | null>(null);
  return (
    <div className="stack">
      <p className="muted">
        {t('Programs that may get secrets from the vault, each with its own key and trust. The service itself is one.')}
      </p>
      <Loaded query={query} rows={2}>
        {({ agents, own }) => (
          <>
            {own === null && (
              <p className="fault small" role="status">
                {t('The vault does not know the key of the service, so the service gets no secrets from it.')}
              </p>
            )}
            <ul className="rows-list">
              {agents.toSorted(liveFirst).map((agent) => (
                <ReaderRow key={agent.id} agent={agent} isOwn={agent.name === own} />
              ))}
            </ul>
            <p className="row-buttons">
              <button type="button" className="plain-button" onClick={() => setAdding(true)}>
                {t('Add reader')}
              </button>
            </p>
          </>
        )}
      </Loaded>
      {isAdding && (
        <AddReader
          onClose={() => setAdding(false)}
          onAdded={(answer) => {
            setAdding(false);
            setAdded(answer);
          }}
        />
      )}
      {added !== null && <NewReader added={added} onClose={() => setAdded(null)} />}
    </div>
  );
}

const liveFirst = (a: VaultAgent, b: VaultAgent): number => Number(a.revoked_at !== null) - Number(b.revoked_at !== null);

function ReaderRow({ agent: { name, tier, created_at: at, revoked_at: end }, isOwn }: { agent: VaultAgent; isOwn: boolean }) {
  const facts = [
    readableSecretsWords[tier],
    t('added {when}', { when: relativeTime(at) }),
    ...(end === null ? [] : [t('removed {when}', { when: relativeTime(end) })]),
  ];
  return (
    <li>
      <div className="line-between">
        <b className="path">{name}</b>
        {end !== null ? (
          <Status kind="none" words={t('removed')} />
        ) : (
          <Status kind="ok" words={isOwn ? t('the service itself') : t('may ask')} />
        )}
      </div>
      <p className="muted small">{facts.join(' · ')}</p>
      {isOwn && <p className="muted small">{t('It cannot be removed: the service would get no more secrets.')}</p>}
      {end === null && !isOwn && (
        <p className="row-buttons">
          <ConfirmButton
            look="danger"
            label={t('Remove reader {name}', { name })}
            title={t('Remove the reader {name}?', { name })}
            button={t('Remove reader')}
            change={{ method: 'DELETE', path: `${readersPath}/${encodeURIComponent(name)}` }}
            changes={changedByReaders}
            done={t('{name} is removed: the vault refuses its key from now on.', { name })}
          >
            <p>
              {t(
                'Programs with the key of {name} get no more secrets from the vault, and stop where they need one. Secrets that they have read are not taken back. Neither the key nor the name can be used again.',
                { name },
              )}
            </p>
          </ConfirmButton>
        </p>
      )}
    </li>
  );
}
