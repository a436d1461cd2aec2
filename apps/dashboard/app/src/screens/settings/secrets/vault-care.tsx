import { plural, t } from '@svc/chat-ui/language/t.ts';
import { leastPassphraseLength, maxPassphraseLength, type VaultAccess, type VaultRotated } from '@svc/contract/vault.ts';
import { useState } from 'react';
import { FormButtons } from '../../../parts/form-buttons.tsx';
import { SecretField } from '../../../parts/secret-field.tsx';
import { Confirm, Dialog } from '../../../parts/dialog.tsx';
import { shortTime } from '../../../parts/format.ts';
import { Loaded } from '../../../parts/page.tsx';
import { useAct, useProvenApi } from '../../../parts/query.ts';
import { Table } from '../../../parts/table.tsx';
import { toast } from '../../../parts/toast.tsx';

const path = '/core/v2/vault';
const accessPath = `${path}/access?limit=200`;
/** Deriving a key from a passphrase is slow on purpose. */
const derivingMs = 60_000;

type Shown = 'passphrase' | 'rotate' | 'record' | null;

/** Maintenance of an open vault: changing the passphrase, replacing the root key, and reading its record. */
export function VaultCare() {
  const [shown, setShown] = useState<Shown>(null);
  const close = () => setShown(null);
  return (
    <>
      <p className="row-buttons">
        <button type="button" className="plain-button" onClick={() => setShown('record')}>
          {t('See who asked for what')}
        </button>
        <button type="button" className="plain-button" onClick={() => setShown('passphrase')}>
          {t('Change the passphrase')}
        </button>
        <button type="button" className="plain-button" onClick={() => setShown('rotate')}>
          {t('Replace the root key')}
        </button>
      </p>
      {shown === 'record' && <AccessLog onClose={close} />}
      {shown === 'passphrase' && <ChangePassphrase onClose={close} />}
      {shown === 'rotate' && <Rotate onClose={close} />}
    </>
  );
}

function AccessLog({ onClose }: { onClose(): void }) {
  const query = useProvenApi<{ access: VaultAccess[] }>(accessPath);
  return (
    <Dialog title={t('Who asked the vault for what')} onClose={onClose} wide>
      <Loaded query={query}>
        {({ access }) => (
          <Table
            caption={t('Record of the vault')}
            rows={access}
            keyOf={({ id }) => String(id)}
            columns={[
              { name: t('What'), isMain: true, cell: ({ action }) => action },
              { name: t('When'), cell: ({ at }) => shortTime(at) },
              { name: t('Who'), cell: ({ actor }) => actor },
              { name: t('About'), cell: ({ target }) => <span className="path">{target ?? ''}</span> },
              { name: t('Outcome'), cell: ({ outcome, detail }) => detail ?? outcome },
            ]}
          />
        )}
      </Loaded>
    </Dialog>
  );
}

function ChangePassphrase({ onClose }: { onClose(): void }) {
  const [now, setNow] = useState('');
  const [next, setNext] = useState('');
  const act = useAct({
    changes: [accessPath],
    isSecret: true,
    hasPlace: true,
    done: t('The vault has a new passphrase. Copies made of it before still open with the old one.'),
    onDone: onClose,
  });
  const forget = () => {
    setNow('');
    setNext('');
  };
  return (
    <Dialog title={t('Change the passphrase')} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          const body = { passphrase: now, new_passphrase: next };
          act.mutate({ method: 'POST', path: `${path}/passphrase`, body, timeoutMs: derivingMs }, { onSettled: forget });
        }}
      >
        <SecretField
          label={t('Current passphrase')}
          fault={act.error?.message ?? null}
          autoComplete="current-password"
          maxLength={maxPassphraseLength}
          value={now}
          onChange={setNow}
        />
        <SecretField
          label={t('New passphrase')}
          hint={plural(
            leastPassphraseLength,
            'At least {n} character; six random words work well. It cannot be recovered: without it everything in the vault is lost.',
            'At least {n} characters; six random words work well. It cannot be recovered: without it everything in the vault is lost.',
          )}
          minLength={leastPassphraseLength}
          maxLength={maxPassphraseLength}
          value={next}
          onChange={setNext}
        />
        <FormButtons
          submit={act.isPending ? t('Changing the passphrase') : t('Change passphrase')}
          isOff={act.isPending || now === '' || next.length < leastPassphraseLength}
          onClose={onClose}
        />
      </form>
    </Dialog>
  );
}

function Rotate({ onClose }: { onClose(): void }) {
  const act = useAct<VaultRotated>({
    changes: [accessPath],
    onDone({ generation, rewrapped }) {
      toast(t('The vault has a new root key, number {generation}. Keys wrapped again: {rewrapped}.', { generation, rewrapped }));
      onClose();
    },
  });
  return (
    <Confirm
      title={t('Replace the root key?')}
      button={t('Replace root key')}
      isBusy={act.isPending}
      onClose={onClose}
      onConfirm={() => act.mutate({ method: 'POST', path: `${path}/rotate` })}
    >
      <p>
        {t(
          'Every key in the vault is wrapped again; secrets and passphrase stay as they are. Do this after a secret was replaced or deleted, or a reader was revoked: earlier states of the vault’s file are then no longer accepted.',
        )}
      </p>
    </Confirm>
  );
}
