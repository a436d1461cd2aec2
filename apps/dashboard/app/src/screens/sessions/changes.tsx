import { Rich } from '@svc/chat-ui/language/rich.tsx';
import { plural, t } from '@svc/chat-ui/language/t.ts';
import type { ControlDiff } from '@svc/contract/control.ts';
import { withQuery } from '../../parts/api.ts';
import { Empty, Loaded } from '../../parts/page.tsx';
import { useApi } from '../../parts/query.ts';

/** The uncommitted changes in the folder of a session. */
export function Changes({ sessionId }: { sessionId: string }) {
  const query = useApi<ControlDiff>(withQuery('/collector/api/control/diff', { session_id: sessionId }));
  return (
    <div className="view">
      <Loaded query={query}>
        {({ root, branch, files, diff, truncated }) =>
          files.length === 0 ? (
            <Empty title={t('Nothing is changed')}>
              <p className="path">{root}</p>
            </Empty>
          ) : (
            <>
              <p>
                <Where files={plural(files.length, '{n} file', '{n} files')} folder={root} branch={branch} />
              </p>
              <pre className="diff" tabIndex={0} aria-label={t('Changes')}>
                {diff.split('\n').map((line, index) => (
                  <DiffLine key={index} line={line} />
                ))}
              </pre>
              {truncated && <p className="muted">{t('There are more changes: see the rest in the folder itself.')}</p>}
            </>
          )
        }
      </Loaded>
    </div>
  );
}

function Where({ files, folder, branch }: { files: string; folder: string; branch: string | null }) {
  const path = <span className="path">{folder}</span>;
  return branch === null ? (
    <Rich text="{files} in {folder}" files={files} folder={path} />
  ) : (
    <Rich text="{files} in {folder}, branch {branch}" files={files} folder={path} branch={branch} />
  );
}

function DiffLine({ line }: { line: string }) {
  const kind = /^(?:\+\+\+|---|diff |index )/.test(line)
    ? 'head'
    : line.startsWith('@@')
      ? 'place'
      : line.startsWith('+')
        ? 'added'
        : line.startsWith('-')
          ? 'removed'
          : '';
  return <span className={kind}>{`${line}\n`}</span>;
}
