import { Rich } from '@svc/chat-ui/language/rich.tsx';
import { t } from '@svc/chat-ui/language/t.ts';
import type { EngineView } from '@svc/contract/engine.ts';
import type { Instance } from '@svc/contract/instance.ts';
import type { VaultStatus } from '@svc/contract/vault.ts';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { SecretField } from '../../../parts/secret-field.tsx';
import { ConfirmButton } from '../../../parts/dialog-button.tsx';
import { Loaded, Section } from '../../../parts/page.tsx';
import { useAct, useApi } from '../../../parts/query.ts';
import { Status } from '../../../parts/status.tsx';
import { type EngineList, enginesPath } from '../engine-list.ts';
import { secretsPath } from './set-secret.tsx';
import { VaultCare } from './vault-care.tsx';
import { VaultReaders } from './vault-readers.tsx';

const path = '/core/v2/vault';
const statusPath = `${path}/status`;
const instancesPath = '/manager/instances';
/** The paths whose data changes when the vault is opened or sealed. */
const changes = [statusPath, instancesPath, enginesPath, secretsPath];
/** Deriving a key from a passphrase is slow on purpose. */
const derivingMs = 45_000;

/** The state of the vault, opening and sealing it, and what waits for it. */
export function Vault() {
  const query = useApi<VaultStatus>(statusPath, 5000);
  return (
    <Section title={t('Vault')}>
      <Loaded query={query} rows={2}>
        {(status) =>
          status.configured ? (
            <>
              <p>
                <StatusOf status={status} />
              </p>
              {!status.reachable && (
                <p>
                  <Rich
                    text="Nothing answers at the address of the vault. Its secrets cannot be used until it is back; {command}, where the service is installed, says more."
                    command={<code>{'./svc status'}</code>}
                  />
                </p>
              )}
              {status.reachable && (status.sealed ? <OpenVault /> : <SealVault />)}
              {status.sealed && <Waiting />}
            </>
          ) : (
            <NoVault />
          )
        }
      </Loaded>
    </Section>
  );
}

function StatusOf({ status: { reachable, sealed } }: { status: VaultStatus }) {
  if (!reachable) return <Status kind="bad" words={t('away')} />;
  return sealed ? <Status kind="warn" words={t('sealed')} /> : <Status kind="ok" words={t('open')} />;
}

const NoVault = () => (
  <div className="stack">
    <p>
      <Status kind="none" words={t('not set up')} />
    </p>
    <p>
      <Rich
        text="Secrets are stored in the secrets file, which only the user of the service can read. A vault keeps them encrypted, and gives each only to those who may have it. To set one up, run {command} where the service is installed, then start the service again."
        command={<code>{'./svc vault init --write-env'}</code>}
      />
    </p>
    <p>
      <Link to="/settings/$section" params={{ section: 'secrets' }}>
        {t('See the secrets')}
      </Link>
    </p>
  </div>
);

function OpenVault() {
  const [passphrase, setPassphrase] = useState('');
  const act = useAct({ changes, done: t('The vault is open.'), isSecret: true, hasPlace: true });
  return (
    <form
      className="stack narrow"
      onSubmit={(event) => {
        event.preventDefault();
        const request = { method: 'POST', path: `${path}/unseal`, body: { passphrase }, timeoutMs: derivingMs } as const;
        act.mutate(request, { onSettled: () => setPassphrase('') });
      }}
    >
      <SecretField
        label={t('Passphrase of the vault')}
        hint={t('It is sent only to the vault, which keeps no copy. It cannot be recovered.')}
        fault={act.error?.message ?? null}
        autoComplete="current-password"
        maxLength={1024}
        value={passphrase}
        onChange={setPassphrase}
      />
      <p className="row-buttons">
        <button type="submit" className="primary" disabled={act.isPending || passphrase === ''}>
          {act.isPending ? t('Opening the vault') : t('Open vault')}
        </button>
      </p>
    </form>
  );
}

const SealVault = () => (
  <>
    <p>{t('It gives secrets to those who may have them. Whatever waited for it has started.')}</p>
    <div className="row-buttons">
      <ConfirmButton
        look="danger"
        title={t('Seal the vault?')}
        button={t('Seal vault')}
        change={{ method: 'POST', path: `${path}/seal` }}
        changes={changes}
        done={t('The vault is sealed.')}
      >
        <p>
          {t(
            'Until it is opened with the passphrase, it gives out nothing: channels that start wait, engines whose key is in it do not answer, and silos encrypted with its keys are closed. What is running continues.',
          )}
        </p>
      </ConfirmButton>
    </div>
    <VaultCare />
    <VaultReaders />
  </>
);

/** Who would start, or answer, if the vault were open. */
function Waiting() {
  const instances = useApi<{ instances: Instance[] }>(instancesPath, 5000);
  const engines = useApi<EngineList>(enginesPath, 15_000);
  const lacksKey = ({ installed, ready, connection, key_present: hasKey }: EngineView) =>
    installed && !ready && connection === 'api_key' && !hasKey;
  const waiting = [
    ...(instances.data?.instances ?? []).filter(({ status }) => status === 'waiting'),
    ...(engines.data?.engines ?? []).filter(lacksKey).map((engine) => ({ ...engine, name: engine.id })),
  ];
  return (
    <>
      <h3>{t('Waiting for the vault')}</h3>
      {[instances.error, engines.error].map(
        (error) =>
          error !== null && (
            <p key={error.message} className="fault small" role="status">
              {error.message}
            </p>
          ),
      )}
      {waiting.length === 0 ? (
        <p className="muted">{t('Nothing is known to wait for it.')}</p>
      ) : (
        <ul className="rows-list">
          {waiting.map(({ id, name, reason }) => (
            <li key={id}>
              <b>{name}</b>
              {reason !== null && <p className="small">{reason}</p>}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
