import { engineConnections, engineSettingsSchema, type EngineView } from '@svc/contract/engine.ts';
import { useState } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { useAct } from '../../parts/query.ts';
import { ActForm } from '../../parts/schema-form/act-form.tsx';

const { model, connection, billing, auto_update: autoUpdate } = engineSettingsSchema.properties;
/** What is empty in the form is null for the route. */
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

/** How an engine is used from the next turn on. */
export function EngineSettings({ engine, path, onClose }: Props) {
  return (
    <Dialog title={`Change ${engine.id}`} onClose={onClose}>
      <div className="stack">
        <ActForm
          schema={schema}
          values={engine}
          button={`Save ${engine.id}`}
          changes={['/core/v2/engines']}
          toCall={(_, all) => ({ method: 'PATCH', path, body: all })}
          done={() => `${engine.id} is saved; the next turn has it.`}
          onClose={onClose}
        >
          {engine.models.length > 0 && <p className="muted small">It names {engine.models.join(', ')}; any other can be set.</p>}
        </ActForm>
        {engine.id === 'codex' && <ModelServer engine={engine} path={path} />}
      </div>
    </Dialog>
  );
}

/** A model server of one's own, which codex can use. */
function ModelServer({ engine, path }: Omit<Props, 'onClose'>) {
  const [url, setUrl] = useState(engine.base_url ?? '');
  const act = useAct({ changes: ['/core/v2/engines'], done: 'It is saved.' });
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        act.mutate({ method: 'POST', path: `${path}/base-url`, body: { url: url.trim() } });
      }}
    >
      <Field label="Address of your own model server" hint="Empty for none.">
        {(props) => <input {...props} value={url} autoComplete="off" onChange={({ target }) => setUrl(target.value)} />}
      </Field>
      <p>
        <button type="submit" className="plain-button" disabled={act.isPending}>
          Save address
        </button>
      </p>
    </form>
  );
}
