import { Rich } from '@svc/chat-ui/language/rich.tsx';
import { t } from '@svc/chat-ui/language/t.ts';
import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import type { ToolServerImport } from '@svc/contract/tool-server.ts';
import { type ChangeEvent, type FormEvent, useState } from 'react';
import { Dialog } from '../../../parts/dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { useAct } from '../../../parts/query.ts';
import { toolsPath } from './tools-path.ts';

/** A configuration is small; a larger file is something else. */
const maxBytes = 1024 * 1024;

/** Imports the servers of a Claude, Cursor, Gemini, Windsurf or VS Code configuration, and shows the result for each. */
export function ToolImport({ onClose }: { onClose(): void }) {
  const [text, setText] = useState('');
  const [replaces, setReplaces] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const act = useAct<ToolServerImport>({ changes: [toolsPath] });

  const take = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const [file] = target.files ?? [];
    if (file === undefined) return;
    setFault(file.size > maxBytes ? t('{file} is not a configuration: it has more than 1 MB.', { file: file.name }) : null);
    if (file.size <= maxBytes) setText(await file.text());
  };
  const send = (event: FormEvent) => {
    event.preventDefault();
    const document = parseJsonOrNull(text);
    const isWhole = isRecord(document);
    setFault(isWhole ? null : t('This is not a JSON object. Choose the whole file, or paste all of it.'));
    if (isWhole) act.mutate({ method: 'POST', path: `${toolsPath}/import`, body: { document, replace: replaces } });
  };

  return (
    <Dialog title={t('Import tool servers')} onClose={onClose}>
      <form className="stack" onSubmit={send}>
        <Field label={t('File')} hint={t('Of Claude, Cursor, Gemini, Windsurf or VS Code, such as .claude.json or mcp.json.')}>
          {(props) => <input {...props} type="file" accept=".json,application/json" onChange={(event) => void take(event)} />}
        </Field>
        <Field label={t('What is in it')} fault={fault}>
          {(props) => (
            <textarea {...props} rows={6} spellCheck={false} value={text} onChange={({ target }) => setText(target.value)} />
          )}
        </Field>
        <label className="check">
          <input type="checkbox" checked={replaces} onChange={({ target }) => setReplaces(target.checked)} />
          {t('Replace servers that are there already')}
        </label>
        {act.data !== undefined && <Imported done={act.data} />}
        <p className="row-buttons">
          <button type="submit" className="primary" disabled={act.isPending || text.trim() === ''}>
            {t('Import tool servers')}
          </button>
          <button type="button" className="plain-button" onClick={onClose}>
            {t('Close')}
          </button>
        </p>
      </form>
    </Dialog>
  );
}

function Imported({ done: { imported, skipped } }: { done: ToolServerImport }) {
  return (
    <ul className="tools-found small" role="status">
      {imported.length + skipped.length === 0 && <li>{t('There is no tool server in it.')}</li>}
      {imported.map((one) => (
        <li key={one.as}>
          <WhatBecame {...one} />
          {one.warnings.map((warning) => ` ${warning}`)}
        </li>
      ))}
      {skipped.map(({ name, reason }) => (
        <li key={name}>
          <Rich text="{name} is left out: {reason}." name={<b>{name}</b>} reason={reason} />
        </li>
      ))}
    </ul>
  );
}

function WhatBecame({ as, replaced, enabled }: ToolServerImport['imported'][number]) {
  const name = <b>{as}</b>;
  if (enabled) return replaced ? <Rich text="{name} is replaced." name={name} /> : <Rich text="{name} is added." name={name} />;
  return replaced ? (
    <Rich text="{name} is replaced, switched off." name={name} />
  ) : (
    <Rich text="{name} is added, switched off." name={name} />
  );
}
