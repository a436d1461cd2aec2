import { t } from '@svc/chat-ui/language/t.ts';
import { toolServerSchemas, type ToolServerEntry, type ToolServerSaved } from '@svc/contract/tool-server.ts';
import { useState } from 'react';
import { Dialog } from '../../../parts/dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { ActForm } from '../../../parts/schema-form/act-form.tsx';
import { toast } from '../../../parts/toast.tsx';
import { toolsPath } from './tools-path.ts';

type Kind = ToolServerEntry['type'];
type Known = { name: string; entry: ToolServerEntry };
/** `names`: of the existing servers. */
type Props = { known: Known | null; names: readonly string[]; onClose(): void };

/** Asks for the transport first, then for its settings. Editing replaces all settings of the server, and never those of another one. */
export function ToolForm({ known, names, onClose }: Props) {
  const [kind, setKind] = useState<Kind>(known?.entry.type ?? 'stdio');
  return (
    <Dialog title={known === null ? t('Add a tool server') : t('Change {name}', { name: known.name })} onClose={onClose}>
      <div className="stack">
        <Field label={t('How it is reached')}>
          {(props) => (
            <select {...props} value={kind} onChange={({ target }) => setKind(target.value as Kind)}>
              <option value="stdio">{t('A program on this machine')}</option>
              <option value="http">{t('A server at an address')}</option>
            </select>
          )}
        </Field>
        <ActForm<ToolServerSaved>
          key={kind}
          schema={toolServerSchemas[kind]}
          values={known === null ? {} : { ...known.entry, name: known.name }}
          button={known === null ? t('Add tool server') : t('Save tool server')}
          changes={[toolsPath]}
          check={({ name }) => (name === known?.name ? {} : faultsOf(String(name), names))}
          toCall={(values) => ({
            method: 'POST',
            path: toolsPath,
            // Another page may have added one since the names were read.
            body: { ...values, enabled: known?.entry.enabled ?? true, replace: values['name'] === known?.name },
          })}
          done={({ name }) =>
            known === null
              ? t('{name} is added; the next turn has it.', { name })
              : t('{name} is saved; the next turn has it.', { name })
          }
          onDone={({ warnings }) => {
            for (const warning of warnings) toast(warning, 'fault');
          }}
          onClose={onClose}
        >
          {known !== null && (
            <p className="muted small">{t('Hidden values have to be typed again. Another name creates a second server.')}</p>
          )}
        </ActForm>
      </div>
    </Dialog>
  );
}

function faultsOf(name: string, names: readonly string[]): Record<string, string> {
  if (!names.includes(name)) return {};
  return { name: t('A tool server {name} already exists. Choose another name, or change that one.', { name }) };
}
