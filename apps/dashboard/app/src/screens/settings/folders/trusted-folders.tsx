import { Rich } from '@svc/chat-ui/language/rich.tsx';
import { t } from '@svc/chat-ui/language/t.ts';
import type { FolderList } from '@svc/contract/folder.ts';
import type { UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { withQuery } from '../../../parts/api.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { relativeTime } from '../../../parts/format.ts';
import { Loaded, Section } from '../../../parts/page.tsx';
import { useAct } from '../../../parts/query.ts';
import { ActForm } from '../../../parts/schema-form/act-form.tsx';

const schema = {
  type: 'object',
  required: ['path'],
  properties: { path: { type: 'string', title: t('Folder'), description: t('An absolute path on the machine of the service.') } },
} as const;

/** Folders whose own tool servers, hooks and settings may run. */
export function TrustedFolders({ query, path }: { query: UseQueryResult<FolderList>; path: string }) {
  const [isTrusting, setTrusting] = useState(false);
  const untrust = useAct({ changes: [path], done: t('It is no longer trusted.') });
  return (
    <Section
      title={t('Trusted folders')}
      actions={
        <button type="button" className="plain-button" onClick={() => setTrusting(true)}>
          {t('Trust a folder')}
        </button>
      }
    >
      <Loaded query={query} rows={1}>
        {({ trusted }) =>
          trusted.length === 0 ? (
            <p className="muted">{t('None. Tool servers, hooks and settings that a repository brings do not run.')}</p>
          ) : (
            <ul className="rows-list">
              {trusted.map(({ path: folder, trusted_at: at }) => (
                <li key={folder} className="line">
                  <span>
                    <span className="path">{folder}</span> <span className="muted small">{relativeTime(at)}</span>
                  </span>
                  <button
                    type="button"
                    className="danger"
                    disabled={untrust.isPending}
                    onClick={() => untrust.mutate({ method: 'DELETE', path: withQuery(`${path}/trusted`, { path: folder }) })}
                  >
                    {t('Stop trusting it')}
                  </button>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {isTrusting && (
        <Dialog title={t('Trust a folder')} onClose={() => setTrusting(false)}>
          <ActForm
            schema={schema}
            button={t('Trust folder')}
            changes={[path]}
            toCall={(body) => ({ method: 'POST', path: `${path}/trusted`, body })}
            done={() => t('The tool servers, hooks and settings of the folder may run from now on.')}
            onClose={() => setTrusting(false)}
          >
            <p className="small">
              <Rich
                text="Review it first: {servers}, {claude}, {codex}, {gemini}. It also covers what is pulled into the folder later."
                servers={<code>{'.mcp.json'}</code>}
                claude={<code>{'.claude/settings.json'}</code>}
                codex={<code>{'.codex/config.toml'}</code>}
                gemini={<code>{'.gemini/settings.json'}</code>}
              />
            </p>
          </ActForm>
        </Dialog>
      )}
    </Section>
  );
}
