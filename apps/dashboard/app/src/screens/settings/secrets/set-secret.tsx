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

type Props = {
  vault: SecretList['vault'];
  secret?: SecretEntry;
  /** The existing names, when a secret is added. */
  others?: readonly SecretEntry[];
  onClose(): void;
};

/** Stores a value, which is never shown again. If it was not stored, it can be tried again. */
export function SetSecret({ vault, secret, others = [], onClose }: Props) {
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
  const nameFault = faultOf(name, others);
  const shared = { autoComplete: 'off', spellCheck: false, maxLength: maxSecretLength, value };
  return (
    <Dialog title={secret === undefined ? t('Add secret') : t('Value of {name}', { name: secret.name })} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          const body = { name, value, ...(vault.configured && { min_trust: tier }) };
          act.mutate({ method: 'POST', path: '/core/v2/vault/secrets', body });
        }}
      >
        {secret === undefined && (
          <NameField
            hint={t('For example GITHUB_TOKEN. Channels, tool servers and settings refer to it by this name.')}
            value={name}
            fault={nameFault}
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
          {t('Show several lines, readable while you type')}
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
        <FormButtons
          submit={t('Keep secret')}
          isOff={act.isPending || value === '' || name === '' || nameFault !== null}
          onClose={onClose}
        />
      </form>
    </Dialog>
  );
}

/** Storing under an existing name would replace its value, which cannot be recovered. */
function faultOf(name: string, others: readonly SecretEntry[]): string | null {
  if (others.some((one) => one.name === name && one.places.length > 0))
    return t('A secret {name} already exists. Close this and replace its value there, or choose another name.', { name });
  return name === '' || isName.test(name)
    ? null
    : t('Use up to 128 letters, digits, “_”, “.”, “:”, “/” and “-”, beginning with one of the first three.');
}
