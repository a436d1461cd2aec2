import { plural, t } from '@svc/chat-ui/language/t.ts';
import type { BuiltInToolServer, ToolServerEntry, ToolServerState, ToolServerTest } from '@svc/contract/tool-server.ts';
import { useState } from 'react';
import { Confirm } from '../../../parts/dialog.tsx';
import { relativeTime } from '../../../parts/format.ts';
import { useAct } from '../../../parts/query.ts';
import { Status, type StatusKind } from '../../../parts/status.tsx';
import type { ToolServer } from './tools.tsx';
import { toolsPath } from './tools-path.ts';

/** A program may be downloaded first; the dashboard's proxy ends a call after two minutes. */
const limitMs = 100_000;

type Props = { server: ToolServer; onChange(entry: ToolServerEntry): void };

export function ToolRow({ server: { name, entry, state }, onChange }: Props) {
  const [isRemoving, setRemoving] = useState(false);
  const own = `${toolsPath}/${encodeURIComponent(name)}`;
  const act = useAct({ changes: [toolsPath] });
  const remove = useAct({ changes: [toolsPath], done: t('{name} is removed.', { name }), onDone: () => setRemoving(false) });
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
        {[placeOf(entry), entry.safe ? t('also for callers who may only read') : null].filter(Boolean).join(' · ')}
      </p>
      {entry.enabled && state.state === 'missing' && (
        <p className="fault small">
          {state.reason}{' '}
          {state.last_there_at !== null && t('It last answered {when}.', { when: relativeTime(state.last_there_at) })}
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
            {test.isPending ? t('Connecting') : t('Try {name}', { name })}
          </button>
        )}
        <button
          type="button"
          className="plain-button"
          disabled={act.isPending}
          onClick={() => act.mutate({ method: 'POST', path: `${own}/toggle` })}
        >
          {entry.enabled ? t('Switch {name} off', { name }) : t('Switch {name} on', { name })}
        </button>
        {entry.type !== 'built-in' && (
          <>
            <button type="button" className="plain-button" onClick={() => onChange(entry)}>
              {t('Change {name}', { name })}
            </button>
            <button type="button" className="danger" onClick={() => setRemoving(true)}>
              {t('Remove {name}', { name })}
            </button>
          </>
        )}
      </p>
      {isRemoving && (
        <Confirm
          title={t('Remove {name}?', { name })}
          button={t('Remove tool server')}
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate({ method: 'DELETE', path: own })}
          onClose={() => setRemoving(false)}
        >
          <p>{t('The assistant no longer has its tools, from the next turn on. Its settings are lost.')}</p>
        </Confirm>
      )}
    </li>
  );
}

function statusOf(entry: ToolServer['entry'], state: ToolServerState): { kind: StatusKind; words: string } {
  if (!entry.enabled) return { kind: 'off', words: t('off') };
  if (state.state === 'there') return { kind: 'ok', words: t('available {when}', { when: relativeTime(state.at) }) };
  if (state.state === 'missing') return { kind: 'bad', words: t('not available') };
  return entry.type === 'built-in' ? { kind: 'ok', words: t('on') } : { kind: 'none', words: t('on, not tried yet') };
}

function placeOf(entry: ToolServerEntry | BuiltInToolServer): string {
  if (entry.type === 'built-in') return t('of the service itself');
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
        {plural(test.tools.length, '{n} tool, after {seconds} s', '{n} tools, after {seconds} s', {
          seconds: (test.ms / 1000).toFixed(1),
        })}
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
