import { t } from '@svc/chat-ui/language/t.ts';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { Instance } from '@svc/contract/instance.ts';
import type { SecretList } from '@svc/contract/secret.ts';
import { useRef, useState } from 'react';
import { FormButtons } from '../../parts/form-buttons.tsx';
import { call } from '../../parts/api.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { queryClient, refresh } from '../../parts/query.ts';
import { readFaults } from '../../parts/schema-form/field-faults.ts';
import { type Draft, readDraft, toDraft } from '../../parts/schema-form/read-draft.ts';
import { SchemaForm } from '../../parts/schema-form/schema-form.tsx';
import { useFaultFocus } from '../../parts/schema-form/use-fault-focus.ts';
import { toast } from '../../parts/toast.tsx';
import { type NamedSecret, namedSecrets, schemaOf } from './channel-config.ts';
import { checkUnchanged } from './check-unchanged.ts';

type AddProps = { types: readonly ConnectorMeta[]; instances: readonly Instance[]; onClose(): void };

/** Asks for the type of the channel first, then for its settings. */
export function AddChannel({ types, instances, onClose }: AddProps) {
  const free = types.filter(({ type, supportsMultiple }) => supportsMultiple || !instances.some((one) => one.type === type));
  const [type, setType] = useState('');
  const meta = free.find((one) => one.type === type);
  return (
    <Dialog title={t('Add a channel')} onClose={onClose}>
      <div className="stack">
        <Field label={t('Kind')}>
          {(props) => (
            <select {...props} value={type} onChange={({ target }) => setType(target.value)}>
              <option value="">{t('Choose one')}</option>
              {free.map((one) => (
                <option key={one.type} value={one.type}>
                  {one.displayName}
                </option>
              ))}
            </select>
          )}
        </Field>
        {meta !== undefined && <ChannelForm key={type} meta={meta} instances={instances} instance={null} onClose={onClose} />}
      </div>
    </Dialog>
  );
}

type EditProps = { meta: ConnectorMeta; instances: readonly Instance[]; instance: Instance; onClose(): void };

export function EditChannel({ meta, instances, instance, onClose }: EditProps) {
  return (
    <Dialog title={t('Configure {name}', { name: instance.name })} onClose={onClose}>
      <ChannelForm meta={meta} instances={instances} instance={instance} onClose={onClose} />
    </Dialog>
  );
}

function ChannelForm({ meta, instances, instance, onClose }: Omit<EditProps, 'instance'> & { instance: Instance | null }) {
  const schema = schemaOf(meta, instance);
  const [name, setName] = useState(instance?.name ?? meta.type);
  const [draft, setDraft] = useState<Draft>(() => emptySecrets(toDraft(schema, instance?.config ?? {}), meta.credentialKeys));
  const [faults, setFaults] = useState<Record<string, string>>({});
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const form = useFaultFocus(faults);
  /** Names under which this form has stored secrets: when the rest was refused, they are used again. */
  const stored = useRef(new Set<string>());

  const save = async () => {
    const read = readDraft(schema, draft);
    if (!read.ok) return setFaults(read.faults);
    setFaults({});
    setFault(null);
    setBusy(true);
    try {
      const { values } = read;
      const hasSecret = meta.credentialKeys.some((field) => typeof values[field] === 'string');
      const taken = hasSecret ? await takenNames(instances, stored.current) : new Set();
      const { config, secrets } = namedSecrets({ meta, values, instance, taken });
      for (const { name: as } of secrets) stored.current.add(as);
      await store(secrets, instance, { name: name.trim(), type: meta.type, config });
      const named = { name: name.trim() };
      toast(instance === null ? t('{name} is being started.', named) : t('{name} is saved and restarts.', named));
      onClose();
    } catch (error) {
      const { fields, rest } = readFaults(error, ['name', ...Object.keys(schema.properties)]);
      setFaults(fields);
      setFault(rest);
    } finally {
      setBusy(false);
      await refresh(queryClient, ['/manager/instances']);
    }
  };

  return (
    <form
      ref={form}
      className="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Field label={t('Name')} fault={faults['name'] ?? null}>
        {(props) => (
          <input {...props} value={name} maxLength={100} autoComplete="off" onChange={({ target }) => setName(target.value)} />
        )}
      </Field>
      <SchemaForm schema={schema} draft={draft} faults={faults} secrets={meta.credentialKeys} onChange={setDraft} />
      {fault !== null && (
        <p className="fault" role="alert">
          {fault}
        </p>
      )}
      <FormButtons
        submit={instance === null ? t('Add channel') : t('Save and restart')}
        isOff={isBusy || name.trim() === ''}
        onClose={onClose}
      />
    </form>
  );
}

/** The config has only the name of a secret, which means nothing to a person: the field is empty until a new value is typed. */
const emptySecrets = (draft: Draft, names: readonly string[]): Draft => ({
  ...draft,
  ...Object.fromEntries(names.map((name) => [name, ''])),
});

/** Names that no new secret may have: a stored secret would be replaced, even if something else uses it, and its value cannot be recovered. */
async function takenNames(instances: readonly Instance[], own: ReadonlySet<string>): Promise<Set<unknown>> {
  const { secrets } = await call<SecretList>('GET', '/core/v2/secrets');
  const stored = secrets.filter(({ places }) => places.length > 0).map(({ name }) => name);
  const named = instances.flatMap(({ config }) => Object.values(config));
  return new Set([...named, ...stored].filter((name) => !own.has(String(name))));
}

type Wanted = { name: string; type: string; config: Record<string, unknown> };

/** Secrets first, so that the channel finds them when it starts. */
async function store(secrets: readonly NamedSecret[], instance: Instance | null, { name, type, config }: Wanted): Promise<void> {
  if (instance !== null) await checkUnchanged(instance);
  for (const { name: as, value } of secrets) await call('POST', '/core/v2/vault/secrets', { body: { name: as, value } });
  if (instance === null) await call('POST', '/manager/instances', { body: { type, name, config, enabled: true } });
  else await call('PATCH', `/manager/instances/${encodeURIComponent(instance.id)}`, { body: { name, config } });
}
