import { t } from '@svc/chat-ui/language/t.ts';
import { type DeletedUpload, type FileKind, fileKinds, type ManifestEntry } from '@svc/contract/upload.ts';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { withQuery } from '../../../parts/api.ts';
import { Confirm } from '../../../parts/dialog.tsx';
import { bytes, shortTime } from '../../../parts/format.ts';
import { Empty, Loaded, Section } from '../../../parts/page.tsx';
import { useAct, useApi } from '../../../parts/query.ts';
import { SearchField } from '../../../parts/search-field.tsx';
import { type Column, Table } from '../../../parts/table.tsx';
import { toast } from '../../../parts/toast.tsx';
import { DownloadButton } from './download-button.tsx';
import { SendFiles } from './send-files.tsx';

export const uploadsPath = '/core/v2/uploads';
const pathOf = ({ id }: ManifestEntry): string => `${uploadsPath}/${encodeURIComponent(id)}`;
const kindWords: Record<FileKind, string> = {
  image: t('image'),
  audio: t('audio'),
  video: t('video'),
  text: t('text'),
  document: t('document'),
  archive: t('archive'),
  recording: t('recording'),
  other: t('other'),
};
const step = 50;
/** The page size of the route. */
const most = 1000;

/** What is in the upload area, newest first. */
export function Uploads() {
  const { text, kind } = useSearch({ from: '/settings/$section' });
  const navigate = useNavigate({ from: '/settings/$section' });
  const [limit, setLimit] = useState(step);
  const query = useApi<{ files: ManifestEntry[]; next: string | null }>(
    withQuery(uploadsPath, { limit, text, kind }),
    30_000,
    true,
  );
  const [removed, setRemoved] = useState<ManifestEntry | null>(null);
  const find = (given: { text?: string; kind?: string }) => void navigate({ search: { text, kind, ...given }, replace: true });
  const columns: readonly Column<ManifestEntry>[] = [
    { name: t('File'), isMain: true, cell: ({ name }) => name },
    { name: t('Kind'), cell: ({ kind: of }) => kindWords[of] },
    { name: t('Size'), isNumber: true, cell: ({ bytes: size }) => bytes(size) },
    { name: t('Conversation'), cell: conversationOf },
    { name: t('Received'), cell: ({ created_at: at }) => shortTime(at) },
    {
      name: t('Actions'),
      cell: (file) => (
        <span className="row-buttons">
          <DownloadButton path={`${pathOf(file)}/file`} name={file.name} />
          <button
            type="button"
            className="danger"
            aria-label={t('Delete {name}', { name: file.name })}
            onClick={() => setRemoved(file)}
          >
            {t('Delete')}
          </button>
        </span>
      ),
    },
  ];
  return (
    <Section title={t('Uploads')} actions={<SendFiles />}>
      <div className="filters">
        <SearchField label={t('Name or conversation')} value={text} onChange={(words) => find({ text: words })} />
        <select className="choice" aria-label={t('Kind')} value={kind} onChange={({ target }) => find({ kind: target.value })}>
          <option value="">{t('Every kind')}</option>
          {fileKinds.map((one) => (
            <option key={one} value={one}>
              {kindWords[one]}
            </option>
          ))}
        </select>
      </div>
      <Loaded query={query}>
        {({ files, next }) =>
          files.length === 0 ? (
            <Empty title={text === '' && kind === '' ? t('No files yet.') : t('No file matches.')}>
              <p>{t('Files of conversations are here, and those that you send.')}</p>
            </Empty>
          ) : (
            <>
              <Table caption={t('Files')} columns={columns} rows={files} keyOf={({ id }) => id} />
              {next !== null && limit < most && (
                <p>
                  <button type="button" className="plain-button" onClick={() => setLimit(Math.min(most, limit + 2 * step))}>
                    {t('Show older files')}
                  </button>
                </p>
              )}
              {next !== null && limit === most && (
                <p className="muted small">{t('These are the newest 1,000. Search for older ones.')}</p>
              )}
            </>
          )
        }
      </Loaded>
      {removed !== null && <Removal file={removed} onClose={() => setRemoved(null)} />}
    </Section>
  );
}

const conversationOf = ({ conversation_key: key }: ManifestEntry) =>
  key === null ? (
    '–'
  ) : (
    <Link to="/sessions/$key" params={{ key }} search={{ tab: '' }} className="row-link">
      {key}
    </Link>
  );

function Removal({ file, onClose }: { file: ManifestEntry; onClose(): void }) {
  const act = useAct<DeletedUpload>({
    changes: [uploadsPath],
    onDone: ({ kept_by_conversations: isKept }) => {
      toast(
        isKept
          ? t('It is deleted. A conversation that it was sent to keeps it until it is forgotten.')
          : t('The file is deleted.'),
      );
      onClose();
    },
  });
  return (
    <Confirm
      title={t('Delete {name}?', { name: file.name })}
      button={t('Delete file')}
      isBusy={act.isPending}
      onConfirm={() => act.mutate({ method: 'DELETE', path: pathOf(file) })}
      onClose={onClose}
    >
      <p>
        {t('{size} are lost. A message that names the file and waits for its turn runs without it.', { size: bytes(file.bytes) })}
      </p>
    </Confirm>
  );
}
