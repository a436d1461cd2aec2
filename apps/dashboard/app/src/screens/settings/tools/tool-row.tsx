import type { BuiltInToolServer, ToolServerEntry, ToolServerState, ToolServerTest } from '@svc/contract/tool-server.ts';
import { useState } from 'react';
import { Confirm } from '../../../parts/dialog.tsx';
import { counted, relativeTime } from '../../../parts/format.ts';
import { useAct } from '../../../parts/query.ts';
import { Status, type StatusKind } from '../../../parts/status.tsx';
import type { ToolServer } from './tools.tsx';
import { toolsPath } from './tools-path.ts';

/** A program may be downloaded first; the way through the dashboard ends a call after two minutes. */
const limitMs = 100_000;

type Props = { server: ToolServer; onChange(entry: ToolServerEntry): void };

export function ToolRow({ server: { name, entry, state }, onChange }: Props) {
  const [isRemoving, setRemoving] = useState(false);
  const own = `${toolsPath}/${encodeURIComponent(name)}`;
  const act = useAct({ changes: [toolsPath] });
  const remove = useAct({ changes: [toolsPath], done: `${name} is removed.`, onDone: () => setRemoving(false) });
  const test = useAct<ToolServerTest>({ changes: [toolsPath] });
  const { kind, words } = statusOf(entry, state);
  return (
    <li>
      <div className="line-between">
        <b>{name}</b>
        <Status kind={kind} words={words} />
      </div>
      {entry.description !== undefined && <p className="small">{entry.description}</p>}
      <p className="muted small">
        {[placeOf(entry), entry.safe ? 'also for callers who may only read' : null].filter(Boolean).join(' · ')}
      </p>
      {entry.enabled && state.state === 'missing' && (
        <p className="fault small">
          {state.reason} {state.last_there_at !== null && `It was there ${relativeTime(state.last_there_at)}.`}
        </p>
      )}
      {test.data !== undefined && <Tested test={test.data} />}
      <p className="row-buttons">
        {entry.type !== 'built-in' && (
          <button
            type="button"
            className="plain-button"
            disabled={test.isPending}
            onClick={() =>
              test.mutate({ method: 'POST', path: `${own}/test`, body: { limit_ms: limitMs }, timeoutMs: limitMs + 15_000 })
            }
          >
            {test.isPending ? 'Connecting' : `Try ${name}`}
          </button>
        )}
        <button
          type="button"
          className="plain-button"
          disabled={act.isPending}
          onClick={() => act.mutate({ method: 'POST', path: `${own}/toggle` })}
        >
          Switch {name} {entry.enabled ? 'off' : 'on'}
        </button>
        {entry.type !== 'built-in' && (
          <>
            <button type="button" className="plain-button" onClick={() => onChange(entry)}>
              Change {name}
            </button>
            <button type="button" className="danger" onClick={() => setRemoving(true)}>
              Remove {name}
            </button>
          </>
        )}
      </p>
      {isRemoving && (
        <Confirm
          title={`Remove ${name}?`}
          button="Remove tool server"
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate({ method: 'DELETE', path: own })}
          onClose={() => setRemoving(false)}
        >
          <p>The assistant has its tools no more, from the next turn on. How it was set is lost.</p>
        </Confirm>
      )}
    </li>
  );
}

function statusOf(entry: ToolServer['entry'], state: ToolServerState): { kind: StatusKind; words: string } {
  if (!entry.enabled) return { kind: 'off', words: 'off' };
  if (state.state === 'there') return { kind: 'ok', words: `there ${relativeTime(state.at)}` };
  if (state.state === 'missing') return { kind: 'bad', words: 'not there' };
  return entry.type === 'built-in' ? { kind: 'ok', words: 'on' } : { kind: 'none', words: 'on, not tried yet' };
}

function placeOf(entry: ToolServerEntry | BuiltInToolServer): string {
  if (entry.type === 'built-in') return 'of the service itself';
  return entry.type === 'http' ? entry.url : [entry.command, ...entry.args].join(' ');
}

/** What it offers, or why it cannot be reached. */
function Tested({ test }: { test: ToolServerTest }) {
  if (!test.connected)
    return (
      <div role="status">
        <p className="fault small">{test.reason}</p>
        {test.stderr.length > 0 && <pre className="diff">{test.stderr.join('\n')}</pre>}
      </div>
    );
  return (
    <details role="status" open>
      <summary className="small">
        {counted(test.tools.length, 'tool')}, after {(test.ms / 1000).toFixed(1)} s
      </summary>
      <ul className="tools-found small">
        {test.tools.map(({ name, description }) => (
          <li key={name}>
            <code>{name}</code> {description}
          </li>
        ))}
      </ul>
    </details>
  );
}
