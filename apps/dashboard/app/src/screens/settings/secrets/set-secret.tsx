import { t } from '@svc/chat-ui/language/t.ts';
import type { SecretEntry, SecretList } from '@svc/contract/secret.ts';
import type { Tier } from '@svc/contract/trust.ts';
import { maxSecretLength, vaultNamePattern, type VaultSecretStored } from '@svc/contract/vault.ts';
import { useState } from 'react';
import { FormButtons } from '../../../parts/form-buttons.tsx';
import { NameField } from '../../../parts/name-field.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { useAct } from '../../../parts/query.ts';
import { toast } from '../../../parts/toast.tsx';
import { tierWords } from '../../people/trust-words.ts';
import { offeredTiers } from './secret-words.ts';

export const secretsPath = '/core/v2/secrets';
const isName = new RegExp(vaultNamePattern);

type Props = { vault: SecretList['vault']; secret?: SecretEntry; onClose(): void };

/** A value goes in once: the field is empty again whatever became of it. */
export function SetSecret({ vault, secret, onClose }: Props) {
  const [name, setName] = useState(secret?.name ?? '');
  const [value, setValue] = useState('');
  const [isLong, setLong] = useState(false);
  const [tier, setTier] = useState<Tier>(secret?.min_trust ?? 'SACRED');
  const act = useAct<VaultSecretStored>({
    changes: [secretsPath],
    isSecret: true,
    onDone({ name: kept, stored_in: place }) {
      toast(
        place === 'vault'
          ? t('{name} is kept in the vault.', { name: kept })
          : t('{name} is kept in the secrets file.', { name: kept }),
      );
      onClose();
    },
  });
  const isBadName = name !== '' && !isName.test(name);
  const shared = { autoComplete: 'off', spellCheck: false, maxLength: maxSecretLength, value };
  return (
    <Dialog title={secret === undefined ? t('Add secret') : t('Value of {name}', { name: secret.name })} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          const body = { name, value, ...(vault.configured && { min_trust: tier }) };
          act.mutate({ method: 'POST', path: '/core/v2/vault/secrets', body }, { onSettled: () => setValue('') });
        }}
      >
        {secret === undefined && (
          <NameField
            hint={t('Such as GITHUB_TOKEN. Channels, tool servers and settings name it.')}
            value={name}
            fault={
              isBadName
                ? t('It takes up to 128 letters, digits, “_”, “.”, “:”, “/” and “-”, and begins with one of the first three.')
                : null
            }
            onChange={setName}
          />
        )}
        <Field
          label={t('Value')}
          hint={
            vault.configured
              ? t('It is kept in the vault, and not shown again.')
              : t('It is kept in the secrets file, and not shown again.')
          }
        >
          {(props) =>
            isLong ? (
              <textarea {...props} {...shared} rows={6} onChange={({ target }) => setValue(target.value)} />
            ) : (
              <input
                {...props}
                {...shared}
                type="password"
                autoComplete="new-password"
                onChange={({ target }) => setValue(target.value)}
              />
            )
          }
        </Field>
        <label className="check">
          <input type="checkbox" checked={isLong} onChange={({ target }) => setLong(target.checked)} />
          {t('It has several lines, and may be seen while it is typed')}
        </label>
        {vault.configured && (
          <Field label={t('Minimum trust')} hint={t('The vault does not give it to turns of people below that.')}>
            {(props) => (
              <select {...props} value={tier} onChange={({ target }) => setTier(target.value as Tier)}>
                {offeredTiers.map((one) => (
                  <option key={one} value={one}>
                    {tierWords[one]}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        <FormButtons submit={t('Keep secret')} isOff={act.isPending || value === '' || !isName.test(name)} onClose={onClose} />
      </form>
    </Dialog>
  );
}
