import { t } from '@svc/chat-ui/language/t.ts';
import type { Silo, SiloFile } from '@svc/contract/silo.ts';
import { type FormEvent, useState } from 'react';
import { Confirm, Dialog } from '../../../parts/dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { bytes, shortTime } from '../../../parts/format.ts';
import { Loaded } from '../../../parts/page.tsx';
import { useAct, useApi } from '../../../parts/query.ts';
import { DownloadButton } from './download-button.tsx';
import { pathOfFile, pathOfSilo, silosPath } from './silo-paths.ts';

const uploadMs = 30 * 60_000;

/** The files of a silo, with upload and download. */
export function SiloFiles({ silo, onClose }: { silo: Silo; onClose(): void }) {
  const query = useApi<{ list: SiloFile[]; next: string | null }>(pathOfSilo(silo));
  const [removed, setRemoved] = useState<SiloFile | null>(null);
  const remove = useAct({ changes: [silosPath], done: t('The file is deleted.'), onDone: () => setRemoved(null) });
  return (
    <Dialog title={silo.name} onClose={onClose} wide>
      <div className="stack">
        <Loaded query={query} rows={2}>
          {({ list, next }) => (
            <>
              {list.length === 0 && <p className="muted">{t('There is no file in it.')}</p>}
              <ul className="rows-list">
                {list.map((file) => (
                  <li key={file.path}>
                    <b>{file.path}</b>
                    <p className="muted small">
                      {bytes(file.bytes)} · {file.mime} · {shortTime(file.updated_at)}
                    </p>
                    <p className="row-buttons">
                      <DownloadButton path={pathOfFile(silo, file.path)} name={file.path.split('/').at(-1) ?? 'file'} />
                      <button
                        type="button"
                        className="danger"
                        aria-label={t('Delete {name}', { name: file.path })}
                        onClick={() => setRemoved(file)}
                      >
                        {t('Delete')}
                      </button>
                    </p>
                  </li>
                ))}
              </ul>
              {next !== null && <p className="muted small">{t('There are more than are shown.')}</p>}
            </>
          )}
        </Loaded>
        <PutFile silo={silo} />
      </div>
      {removed !== null && (
        <Confirm
          title={t('Delete {name}?', { name: removed.path })}
          button={t('Delete file')}
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate({ method: 'DELETE', path: pathOfFile(silo, removed.path) })}
          onClose={() => setRemoved(null)}
        >
          <p>{t('{size} are lost.', { size: bytes(removed.bytes) })}</p>
        </Confirm>
      )}
    </Dialog>
  );
}

function PutFile({ silo }: { silo: Silo }) {
  const [file, setFile] = useState<File | null>(null);
  const [path, setPath] = useState('');
  const put = useAct({ changes: [silosPath], done: t('The file is in the silo.') });
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (file !== null) put.mutate({ method: 'POST', path: pathOfFile(silo, path, file.type), body: file, timeoutMs: uploadMs });
  };
  return (
    <form className="stack" onSubmit={send}>
      <Field label={t('File')}>
        {(props) => (
          <input
            {...props}
            type="file"
            onChange={({ target }) => {
              const chosen = target.files?.[0] ?? null;
              setFile(chosen);
              setPath(chosen?.name ?? '');
            }}
          />
        )}
      </Field>
      <Field label={t('Path in the silo')} hint={t('An existing file is replaced.')}>
        {(props) => <input {...props} value={path} autoComplete="off" onChange={({ target }) => setPath(target.value)} />}
      </Field>
      <p>
        <button type="submit" className="primary" disabled={file === null || path.trim() === '' || put.isPending}>
          {put.isPending ? t('Storing') : t('Store file')}
        </button>
      </p>
    </form>
  );
}
