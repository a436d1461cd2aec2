import { t } from '@svc/chat-ui/language/t.ts';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { EngineView } from '@svc/contract/engine.ts';
import { type InstanceRules, type RuleName, ruleNames, rolePrefix } from '@svc/contract/instance-rules.ts';
import type { Instance } from '@svc/contract/instance.ts';
import type { Role } from '@svc/contract/trust.ts';
import { useState } from 'react';
import { FormButtons } from '../../parts/form-buttons.tsx';
import { call } from '../../parts/api.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { queryClient, refresh, useApi } from '../../parts/query.ts';
import { useAllPeople } from '../../parts/use-people.ts';
import { readFaults } from '../../parts/schema-form/field-faults.ts';
import { useFaultFocus } from '../../parts/schema-form/use-fault-focus.ts';
import { toast } from '../../parts/toast.tsx';
import { checkUnchanged } from './check-unchanged.ts';

/** The settings of a type that the core enforces, whatever the connector says. */
export const ruleFields = ({ configSchema }: ConnectorMeta): RuleName[] =>
  ruleNames.filter((name) => configSchema.properties[name]?.['enforcedBy'] === 'core');

type Props = { instance: Instance; meta: ConnectorMeta; onClose(): void };
type Draft = Required<InstanceRules>;

const draftOf = (config: Record<string, unknown>): Draft => {
  const { engine = '', model = '', cwd = '', persona = '', allow = [], public: isPublic = false } = config as InstanceRules;
  return { engine, model, cwd, persona, allow, public: isPublic };
};

/** A rule that is null is not set: the general setting applies. */
const valueOf = (value: Draft[RuleName]) =>
  value === '' || value === false || (Array.isArray(value) && value.length === 0) ? null : value;

/** Which engine answers on a channel, where and as whom, who is let in, and whether others read along. */
export function Rules({ instance: current, meta, onClose }: Props) {
  // As it was when the dialog was opened: later updates of the list are another person's change.
  const [instance] = useState(current);
  const fields = ruleFields(meta);
  const [draft, setDraft] = useState(() => draftOf(instance.config));
  const [faults, setFaults] = useState<Record<string, string>>({});
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const form = useFaultFocus(faults);
  const set = (change: Partial<Draft>) => setDraft({ ...draft, ...change });

  const save = async () => {
    setBusy(true);
    setFault(null);
    try {
      await checkUnchanged(instance);
      const rules = Object.fromEntries(fields.map((name) => [name, valueOf(draft[name])]));
      const body = { config: { ...instance.config, ...rules } };
      await call('PATCH', `/manager/instances/${encodeURIComponent(instance.id)}`, { body });
      toast(t('The rules of {name} are saved.', { name: instance.name }));
      onClose();
    } catch (error) {
      const { fields: wrong, rest } = readFaults(error, fields);
      setFaults(wrong);
      setFault(rest);
    } finally {
      setBusy(false);
      await refresh(queryClient, ['/manager/instances']);
    }
  };

  return (
    <Dialog title={t('Rules of {name}', { name: instance.name })} onClose={onClose}>
      <form
        ref={form}
        className="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <p className="muted small">
          {t('The core enforces these, whatever the program of the channel says. Saving restarts it.')}
        </p>
        {fields.includes('engine') && (
          <Engine chosen={draft.engine} fault={faults['engine'] ?? null} onChoose={(engine) => set({ engine })} />
        )}
        {(['model', 'cwd', 'persona'] as const)
          .filter((name) => fields.includes(name))
          .map((name) => (
            <Field
              key={name}
              label={meta.configSchema.properties[name]?.title ?? name}
              hint={String(meta.configSchema.properties[name]?.['description'] ?? '')}
              fault={faults[name] ?? null}
            >
              {(props) => (
                <input
                  {...props}
                  value={draft[name]}
                  autoComplete="off"
                  spellCheck={false}
                  onChange={({ target }) => set({ [name]: target.value })}
                />
              )}
            </Field>
          ))}
        {fields.includes('allow') && (
          <OpenTo allow={draft.allow} fault={faults['allow'] ?? null} onAllow={(allow) => set({ allow })} />
        )}
        {fields.includes('public') && (
          <label className="check">
            <input type="checkbox" checked={draft.public} onChange={({ target }) => set({ public: target.checked })} />{' '}
            {t('in public: replies are masked more strictly, and no one is more than trusted')}
          </label>
        )}
        {fault !== null && (
          <p className="fault" role="alert">
            {fault}
          </p>
        )}
        <FormButtons submit={t('Save rules')} isOff={isBusy} onClose={onClose} />
      </form>
    </Dialog>
  );
}

function Engine({ chosen, fault, onChoose }: { chosen: string; fault: string | null; onChoose(engine: string): void }) {
  const { data } = useApi<{ engines: Pick<EngineView, 'id'>[] }>('/core/v2/engines');
  const ids = [...new Set([...(data?.engines ?? []).map(({ id }) => id), chosen])].filter((id) => id !== '');
  return (
    <Field label={t('Engine')} fault={fault}>
      {(props) => (
        <select {...props} value={chosen} onChange={({ target }) => onChoose(target.value)}>
          <option value="">{t('as everywhere')}</option>
          {ids.map((id) => (
            <option key={id}>{id}</option>
          ))}
        </select>
      )}
    </Field>
  );
}

type OpenToProps = { allow: readonly string[]; fault: string | null; onAllow(allow: string[]): void };

/** People by their key, roles by `role:NAME`; nobody chosen: everybody who is known. */
function OpenTo({ allow, fault, onAllow }: OpenToProps) {
  const people = useAllPeople();
  const roles = useApi<{ roles: Role[] }>('/core/trust/roles');
  const known = [
    ...(roles.data?.roles ?? []).map(({ name }) => ({
      entry: `${rolePrefix}${name}`,
      words: t('everybody who is {role}', { role: name }),
    })),
    ...(people.data?.principals ?? []).map(({ key, display_name: name }) => ({ entry: key, words: name })),
  ];
  const entries = new Set(known.map(({ entry }) => entry));
  const gone = allow
    .filter((entry) => !entries.has(entry))
    .map((entry) => ({ entry, words: t('{entry} (no longer exists)', { entry }) }));
  const flip = (entry: string) => onAllow(allow.includes(entry) ? allow.filter((one) => one !== entry) : [...allow, entry]);
  return (
    <fieldset className="checks">
      <legend>{t('Open to')}</legend>
      <p className="muted small">
        {allow.length === 0 ? t('Everyone who is known. Choose some to exclude all others.') : t('Nobody else gets an answer.')}
      </p>
      {[...known, ...gone].map(({ entry, words }) => (
        <label key={entry} className="check">
          <input type="checkbox" checked={allow.includes(entry)} onChange={() => flip(entry)} /> {words}
        </label>
      ))}
      {fault !== null && <p className="fault small">{fault}</p>}
    </fieldset>
  );
}
