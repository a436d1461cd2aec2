import type { ControlDiff } from '@svc/contract/control.ts';
import { withQuery } from '../../parts/api.ts';
import { counted } from '../../parts/format.ts';
import { Empty, Loaded } from '../../parts/page.tsx';
import { useApi } from '../../parts/query.ts';

/** What is changed and not committed where a session works. */
export function Changes({ sessionId }: { sessionId: string }) {
  const query = useApi<ControlDiff>(withQuery('/collector/api/control/diff', { session_id: sessionId }));
  return (
    <div className="view">
      <Loaded query={query}>
        {({ root, branch, files, diff, truncated }) =>
          files.length === 0 ? (
            <Empty title="Nothing is changed">
              <p className="path">{root}</p>
            </Empty>
          ) : (
            <>
              <p>
                {counted(files.length, 'file')} in <span className="path">{root}</span>
                {branch !== null && `, branch ${branch}`}
              </p>
              <pre className="diff" tabIndex={0} aria-label="Changes">
                {diff.split('\n').map((line, index) => (
                  <DiffLine key={index} line={line} />
                ))}
              </pre>
              {truncated && <p className="muted">The changes go on: look at the rest in the folder itself.</p>}
            </>
          )
        }
      </Loaded>
    </div>
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
