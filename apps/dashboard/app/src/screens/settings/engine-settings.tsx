import { t } from '@svc/chat-ui/language/t.ts';
import { engineConnections, engineSettingsSchema, type EngineView } from '@svc/contract/engine.ts';
import { useState } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { useAct } from '../../parts/query.ts';
import { ActForm } from '../../parts/schema-form/act-form.tsx';
import { enginesPath } from './engine-list.ts';

const { model, connection, billing, auto_update: autoUpdate } = engineSettingsSchema.properties;
/** An empty field is null for the route. */
const schema = {
  type: 'object',
  required: ['connection'],
  properties: {
    model: { ...model, type: 'string' },
    connection: { ...connection, type: 'string' },
    billing: { ...billing, type: 'string', enum: engineConnections },
    auto_update: autoUpdate,
  },
} as const;

type Props = { engine: EngineView; path: string; onClose(): void };

/** The settings of an engine, used from the next turn on. */
export function EngineSettings({ engine, path, onClose }: Props) {
  return (
    <Dialog title={t('Change {name}', { name: engine.id })} onClose={onClose}>
      <div className="stack">
        <ActForm
          schema={schema}
          values={engine}
          button={t('Save {name}', { name: engine.id })}
          changes={[enginesPath]}
          toCall={(_, all) => ({ method: 'PATCH', path, body: all })}
          done={() => t('{name} is saved; the next turn has it.', { name: engine.id })}
          onClose={onClose}
        >
          {engine.models.length > 0 && (
            <p className="muted small">{t('It names {models}; any other can be set.', { models: engine.models.join(', ') })}</p>
          )}
        </ActForm>
        {engine.takes_base_url && <ModelServer engine={engine} path={path} />}
      </div>
    </Dialog>
  );
}

/** The operator's own model server. */
function ModelServer({ engine, path }: Omit<Props, 'onClose'>) {
  const [url, setUrl] = useState(engine.base_url ?? '');
  const act = useAct({ changes: [enginesPath], done: t('It is saved.'), hasPlace: true });
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        act.mutate({ method: 'POST', path: `${path}/base-url`, body: { url: url.trim() } });
      }}
    >
      <Field label={t('Address of your own model server')} hint={t('Leave empty for none.')} fault={act.error?.message ?? null}>
        {(props) => <input {...props} value={url} autoComplete="off" onChange={({ target }) => setUrl(target.value)} />}
      </Field>
      <p>
        <button type="submit" className="plain-button" disabled={act.isPending}>
          {t('Save address')}
        </button>
      </p>
    </form>
  );
}
