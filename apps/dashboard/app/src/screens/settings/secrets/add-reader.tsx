import { t } from '@svc/chat-ui/language/t.ts';
import type { Tier } from '@svc/contract/trust.ts';
import { type VaultAgentAdded, vaultAgentNamePattern } from '@svc/contract/vault.ts';
import { useState } from 'react';
import { Dialog } from '../../../parts/dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { FormButtons } from '../../../parts/form-buttons.tsx';
import { NameField } from '../../../parts/name-field.tsx';
import { useAct } from '../../../parts/query.ts';
import { ShownOnce } from '../../../parts/shown-once.tsx';
import { tierWords } from '../../people/trust-words.ts';
import { offeredTiers, readableSecretsWords } from './secret-words.ts';

export const readersPath = '/core/v2/vault/agents';
/** The record of the vault uses it, too. */
export const changedByReaders = [readersPath, '/core/v2/vault/access'];
const isName = new RegExp(vaultAgentNamePattern);

/** Asks for the name of a new reader, and which secrets it may have. */
export function AddReader({ onAdded, onClose }: { onAdded(added: VaultAgentAdded): void; onClose(): void }) {
  const [name, setName] = useState('');
  const [tier, setTier] = useState<Tier>('GUEST');
  const act = useAct<VaultAgentAdded>({ changes: changedByReaders, isSecret: true, onDone: onAdded });
  const isBadName = name !== '' && !isName.test(name);
  return (
    <Dialog title={t('Add reader')} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          act.mutate({ method: 'POST', path: readersPath, body: { name, tier } });
        }}
      >
        <NameField
          hint={t('The program that asks, for example laptop. The record of the vault shows this name.')}
          value={name}
          fault={isBadName ? t('Use up to 64 of a–z, 0–9, “_” and “-”, beginning with a letter or a digit.') : null}
          onChange={setName}
        />
        <Field label={t('Trust')} hint={t('Which secrets it gets, while the vault is open.')}>
          {(props) => (
            <select {...props} value={tier} onChange={({ target }) => setTier(target.value as Tier)}>
              {offeredTiers.map((one) => (
                <option key={one} value={one}>
                  {tierWords[one]}: {readableSecretsWords[one]}
                </option>
              ))}
            </select>
          )}
        </Field>
        <FormButtons
          submit={act.isPending ? t('Adding the reader') : t('Add reader')}
          isOff={act.isPending || !isName.test(name)}
          onClose={onClose}
        />
      </form>
    </Dialog>
  );
}

/** The key of a new reader, shown once, with the settings for its program. */
export function NewReader({ added: { agent, key, url }, onClose }: { added: VaultAgentAdded; onClose(): void }) {
  return (
    <Dialog title={t('The key of {name}', { name: agent.name })} onClose={onClose} wide>
      <div className="stack">
        <p>{t('It is shown only once. Set both where the program that asks is started.')}</p>
        <ShownOnce label={t('Key')} text={key} copy={t('Copy key')} />
        <ShownOnce
          label={t('What to set')}
          text={`SVC_VAULT_URL=${url}\nSVC_VAULT_AGENT_KEY=${key}`}
          copy={t('Copy both settings')}
        />
        <p className="row-buttons">
          <button type="button" className="primary" onClick={onClose}>
            {t('I have stored it')}
          </button>
        </p>
      </div>
    </Dialog>
  );
}
