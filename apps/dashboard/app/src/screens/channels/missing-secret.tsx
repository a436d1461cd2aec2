import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { Instance } from '@svc/contract/instance.ts';
import { useState } from 'react';
import { call } from '../../parts/api.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { queryClient, refresh } from '../../parts/query.ts';
import { toast } from '../../parts/toast.tsx';

/** The name of the secret for want of which a channel does not run, as its end says; null for any other reason. */
export function missingSecret(instance: Instance, meta: ConnectorMeta | undefined): string | null {
  const { enabled, status, config } = instance;
  // Between two tries it is starting, and its last end says why.
  const reason = instance.reason ?? instance.last_exit?.reason ?? null;
  if (meta === undefined || reason === null || !enabled || status === 'running' || status === 'waiting') return null;
  const names = meta.credentialKeys.map((field) => config[field]).filter((name) => typeof name === 'string' && name !== '');
  return (names as string[]).find((name) => reason.includes(name)) ?? null;
}

type Props = { secret: string; path: string; name: string; onClose(): void };

/** Keeps the value where secrets are kept and starts the channel with it. */
export function MissingSecret({ secret, path, name, onClose }: Props) {
  const [value, setValue] = useState('');
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      await call('POST', '/core/v2/vault/secrets', { body: { name: secret, value } });
      await call('POST', `${path}/restart`);
      toast(`${name} is being started.`);
      onClose();
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), 'fault');
    } finally {
      setBusy(false);
      await refresh(queryClient, ['/manager/instances']);
    }
  };
  return (
    <Dialog title={`The secret of ${name}`} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Field label={secret} hint="It goes to where secrets are kept, and is not shown again.">
          {(props) => (
            <input
              {...props}
              type="password"
              autoComplete="new-password"
              value={value}
              onChange={({ target }) => setValue(target.value)}
            />
          )}
        </Field>
        <p className="row-buttons">
          <button type="submit" className="primary" disabled={isBusy || value === ''}>
            Keep it and restart
          </button>
          <button type="button" className="plain-button" onClick={onClose}>
            Cancel
          </button>
        </p>
      </form>
    </Dialog>
  );
}
