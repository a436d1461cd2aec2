import { t } from '@svc/chat-ui/language/t.ts';
import type { FolderList, ListedFolder } from '@svc/contract/folder.ts';
import { useState } from 'react';
import { Plus } from 'lucide-react';
import { Loaded, Section } from '../../../parts/page.tsx';
import { useAct, useApi } from '../../../parts/query.ts';
import { Status } from '../../../parts/status.tsx';
import { Checkouts } from './checkouts.tsx';
import { SetFolder, turnsOf } from './set-folder.tsx';
import { TrustedFolders } from './trusted-folders.tsx';

const path = '/core/v2/folders';

/** Where turns work: working folders, trusted folders, and copies of repositories. */
export function Folders() {
  const query = useApi<FolderList>(path, 30_000);
  const [isSetting, setSetting] = useState(false);
  const clear = useAct({ changes: [path], done: t('It is cleared.') });
  return (
    <>
      <Section
        title={t('Working folders')}
        actions={
          <button type="button" className="primary" onClick={() => setSetting(true)}>
            <Plus aria-hidden size={16} /> {t('Set a folder')}
          </button>
        }
      >
        <Loaded query={query} rows={2}>
          {({ folders }) =>
            folders.length === 0 ? (
              <p className="muted">{t("None. Turns with every right work in the service's own workspace.")}</p>
            ) : (
              <ul className="rows-list">
                {folders.map((folder) => (
                  <li key={`${folder.scope} ${folder.name}`}>
                    <div className="line-between">
                      <b>{wordsOf(folder)}</b>
                      {folder.fault === null ? (
                        <Status kind="ok" words={t('available')} />
                      ) : (
                        <Status kind="bad" words={t('not usable')} />
                      )}
                    </div>
                    <p className="path">{folder.path}</p>
                    {folder.fault !== null && <p className="fault small">{folder.fault}</p>}
                    {folder.scope === 'conversation' ? (
                      <p className="muted small">{t('Set in the details of its session.')}</p>
                    ) : (
                      <p>
                        <button
                          type="button"
                          className="danger"
                          disabled={clear.isPending}
                          onClick={() => clear.mutate({ method: 'PUT', path, body: { cwd: null, ...targetOf(folder) } })}
                        >
                          {t('Clear folder')}
                        </button>
                      </p>
                    )}
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      </Section>
      <TrustedFolders query={query} path={path} />
      <Checkouts />
      {isSetting && <SetFolder path={path} onClose={() => setSetting(false)} />}
    </>
  );
}

function wordsOf({ scope, name }: ListedFolder): string {
  switch (scope) {
    case 'tier':
      return turnsOf[name] ?? t('Turns of {tier}', { tier: name });
    case 'channel':
      return t('The channel {name}', { name });
    case 'instance':
      return t('The instance {name}', { name });
    case 'conversation':
      return t('The conversation {name}', { name });
  }
}

/** What the folder is for, in the words of the route. */
const targetOf = ({ scope, name }: ListedFolder): object => (scope === 'instance' ? { instance_id: name } : { [scope]: name });
