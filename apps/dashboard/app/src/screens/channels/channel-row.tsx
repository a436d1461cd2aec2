import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { Instance, InstanceStatus } from '@svc/contract/instance.ts';
import { useState } from 'react';
import { Confirm, Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { bytes, clockTime, counted, relativeTime } from '../../parts/format.ts';
import { Loaded } from '../../parts/page.tsx';
import { useAct, useApi } from '../../parts/query.ts';
import { Status, type StatusKind } from '../../parts/status.tsx';

const kinds: Record<InstanceStatus, StatusKind> = {
  running: 'ok',
  starting: 'busy',
  waiting: 'warn',
  backoff: 'bad',
  failed: 'bad',
  stopped: 'off',
};
const changes = ['/manager/instances'];

type Props = { instance: Instance; meta: ConnectorMeta | undefined; onEdit: (() => void) | undefined };

/** One channel: how it is, and what can be done to it. */
export function ChannelRow({ instance, meta, onEdit }: Props) {
  const { id, name, type, status, reason, enabled } = instance;
  const [shown, setShown] = useState<'logs' | 'send' | 'remove' | null>(null);
  const act = useAct({ changes });
  const remove = useAct({ changes, done: `${name} is removed.`, onDone: () => setShown(null) });
  const path = `/manager/instances/${encodeURIComponent(id)}`;
  const run = (action: 'start' | 'stop' | 'restart') => act.mutate({ method: 'POST', path: `${path}/${action}` });
  const close = () => setShown(null);
  return (
    <li>
      <div className="line-between">
        <b>{name}</b>
        <Status kind={kinds[status]} words={status} />
      </div>
      <p className="muted small">{factsOf(instance, meta?.displayName ?? type)}</p>
      {reason !== null && <p className="fault small">{reason}</p>}
      {instance.first_steps !== null && <p className="small">{instance.first_steps}</p>}
      <p className="row-buttons">
        <button
          type="button"
          className="plain-button"
          disabled={act.isPending}
          onClick={() => run(enabled ? 'restart' : 'start')}
        >
          {enabled ? 'Restart' : 'Start'}
        </button>
        {enabled && (
          <button type="button" className="plain-button" disabled={act.isPending} onClick={() => run('stop')}>
            Stop
          </button>
        )}
        {onEdit !== undefined && (
          <button type="button" className="plain-button" disabled={meta === undefined} onClick={onEdit}>
            Configure
          </button>
        )}
        <button type="button" className="plain-button" onClick={() => setShown('logs')}>
          Logs
        </button>
        {meta !== undefined && meta.outbound !== false && (
          <button type="button" className="plain-button" disabled={status !== 'running'} onClick={() => setShown('send')}>
            Send a test
          </button>
        )}
        <button type="button" className="danger" onClick={() => setShown('remove')}>
          Remove
        </button>
      </p>
      {shown === 'logs' && <Logs path={path} name={name} onClose={close} />}
      {shown === 'send' && meta !== undefined && meta.outbound !== false && (
        <SendTest id={id} name={name} outbound={meta.outbound} onClose={close} />
      )}
      {shown === 'remove' && (
        <Confirm
          title={`Remove ${name}?`}
          button="Remove channel"
          isBusy={remove.isPending}
          onClose={close}
          onConfirm={() => remove.mutate({ method: 'DELETE', path })}
        >
          <p>
            The channel is stopped, and its settings and its folder are removed. People on it are no longer answered. What was
            said stays.
          </p>
        </Confirm>
      )}
    </li>
  );
}

function factsOf(
  { url, restarts, heartbeat, started_at: began, usage, last_exit: exit, status }: Instance,
  kind: string,
): string {
  const isRunning = status === 'running';
  const parts = [
    kind,
    isRunning && began !== null ? `since ${relativeTime(began)}` : null,
    isRunning && heartbeat === 'stale' ? 'gives no sign of life' : null,
    restarts > 0 ? counted(restarts, 'restart') : null,
    usage === null ? null : bytes(usage.memory_bytes),
    url,
    exit === null || isRunning ? null : `ended ${relativeTime(exit.at)}: ${exit.reason}`,
  ];
  return parts.filter((part) => part !== null).join(' · ');
}

type Line = { at: number; stream: 'stdout' | 'stderr'; text: string };

function Logs({ path, name, onClose }: { path: string; name: string; onClose(): void }) {
  const query = useApi<{ logs: Line[] }>(`${path}/logs`, 3000);
  return (
    <Dialog title={`Logs of ${name}`} onClose={onClose} wide>
      <Loaded query={query}>
        {({ logs }) =>
          logs.length === 0 ? (
            <p className="muted">It has written nothing.</p>
          ) : (
            <pre className="diff" tabIndex={0} aria-label="Log lines" aria-live="off">
              {logs.map(({ at, text }) => `${clockTime(at)} ${text}`).join('\n')}
            </pre>
          )
        }
      </Loaded>
    </Dialog>
  );
}

type SendProps = { id: string; name: string; outbound: Exclude<ConnectorMeta['outbound'], false>; onClose(): void };

function SendTest({ id, name, outbound, onClose }: SendProps) {
  const [target, setTarget] = useState('');
  const [text, setText] = useState('A test from the dashboard.');
  const act = useAct({ done: `${name} has sent it.`, onDone: onClose });
  return (
    <Dialog title={`Send a test over ${name}`} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          const body = { instance_id: id, text, ...(target.trim() !== '' && { target: target.trim() }) };
          act.mutate({ method: 'POST', path: '/manager/send', body });
        }}
      >
        <Field label={outbound.target.label}>
          {(props) => (
            <input {...props} value={target} autoComplete="off" onChange={({ target: input }) => setTarget(input.value)} />
          )}
        </Field>
        <Field label="Text">
          {(props) => <textarea {...props} rows={2} value={text} onChange={({ target: input }) => setText(input.value)} />}
        </Field>
        <p className="row-buttons">
          <button
            type="submit"
            className="primary"
            disabled={act.isPending || text.trim() === '' || (outbound.target.required && target.trim() === '')}
          >
            Send it
          </button>
          <button type="button" className="plain-button" onClick={onClose}>
            Cancel
          </button>
        </p>
      </form>
    </Dialog>
  );
}
