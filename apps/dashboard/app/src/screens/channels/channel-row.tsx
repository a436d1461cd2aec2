import { plural, t } from '@svc/chat-ui/language/t.ts';
import type { LoadedMeta } from '@svc/contract/connector-meta.ts';
import type { Instance, InstanceStatus } from '@svc/contract/instance.ts';
import { type ReactNode, useState } from 'react';
import { Confirm } from '../../parts/dialog.tsx';
import { bytes, relativeTime } from '../../parts/format.ts';
import { useAct } from '../../parts/query.ts';
import { Status, type StatusKind } from '../../parts/status.tsx';
import { Devices, letsDevicesIn } from './devices.tsx';
import { Held } from './held.tsx';
import { Logs } from './logs.tsx';
import { lackingSecret } from './lacking-secret.ts';
import { MissingSecret } from './missing-secret.tsx';
import { Rooms } from './rooms.tsx';
import { ruleFields, Rules } from './rules.tsx';
import { SendTest } from './send-test.tsx';

const standings: Record<InstanceStatus, { kind: StatusKind; words: string }> = {
  running: { kind: 'ok', words: t('running') },
  starting: { kind: 'busy', words: t('starting') },
  waiting: { kind: 'warn', words: t('waiting') },
  backoff: { kind: 'bad', words: t('backoff') },
  failed: { kind: 'bad', words: t('failed') },
  stopped: { kind: 'off', words: t('stopped') },
};
const changes = ['/manager/instances'];

type Props = { instance: Instance; meta: LoadedMeta | undefined; onEdit: (() => void) | undefined };

type Shown = 'logs' | 'devices' | 'send' | 'rooms' | 'rules' | 'secret' | 'remove' | null;

/** One channel: its state and its actions. */
export function ChannelRow({ instance, meta, onEdit }: Props) {
  const { id, name, type, status, reason, enabled } = instance;
  const [shown, setShown] = useState<Shown>(null);
  const act = useAct({ changes });
  const path = `/manager/instances/${encodeURIComponent(id)}`;
  const run = (action: 'start' | 'stop' | 'restart') => act.mutate({ method: 'POST', path: `${path}/${action}` });
  const missing = lackingSecret(instance, meta);
  const button = (words: string, onClick: () => void, isDisabled = false) => (
    <button type="button" className="plain-button" disabled={isDisabled} onClick={onClick}>
      {words}
    </button>
  );
  const sends = meta !== undefined && meta.outbound !== false;
  return (
    <li>
      <div className="line-between">
        <b>{name}</b>
        <Status {...standings[status]} />
      </div>
      <p className="muted small">{factsOf(instance, meta?.displayName ?? type)}</p>
      {reason !== null && <p className="fault small">{reason}</p>}
      {missing !== null && (
        <p>
          <button type="button" className="primary" onClick={() => setShown('secret')}>
            {t('Enter the secret')}
          </button>
        </p>
      )}
      {instance.first_steps !== null && <p className="small">{instance.first_steps}</p>}
      <Held instance={instance} />
      <p className="row-buttons">
        {letsDevicesIn(instance) && button(t('Devices'), () => setShown('devices'), status !== 'running')}
        {button(enabled ? t('Restart') : t('Start'), () => run(enabled ? 'restart' : 'start'), act.isPending)}
        {enabled && button(t('Stop'), () => run('stop'), act.isPending)}
        {onEdit !== undefined && button(t('Configure'), onEdit, meta === undefined)}
        {meta !== undefined && ruleFields(meta).length > 0 && button(t('Rules'), () => setShown('rules'))}
        {sends && button(t('Rooms'), () => setShown('rooms'), status !== 'running')}
        {button(t('Logs'), () => setShown('logs'))}
        {sends && button(t('Send a test'), () => setShown('send'))}
        <button type="button" className="danger" onClick={() => setShown('remove')}>
          {t('Remove')}
        </button>
      </p>
      {shownPart({ shown, instance, meta, missing, path, onClose: () => setShown(null) })}
    </li>
  );
}

type PartProps = Pick<Props, 'instance' | 'meta'> & {
  shown: Shown;
  missing: string | null;
  path: string;
  onClose(): void;
};

function shownPart({ shown, instance, meta, missing, path, onClose }: PartProps): ReactNode {
  const { id, name, status } = instance;
  if (shown === 'logs') return <Logs path={path} name={name} onClose={onClose} />;
  if (shown === 'devices') return <Devices instance={instance} path={path} onClose={onClose} />;
  if (shown === 'rooms') return <Rooms path={path} name={name} onClose={onClose} />;
  if (shown === 'remove') return <Remove path={path} name={name} onClose={onClose} />;
  if (shown === 'secret' && missing !== null) return <MissingSecret secret={missing} path={path} name={name} onClose={onClose} />;
  if (meta === undefined) return null;
  if (shown === 'rules') return <Rules instance={instance} meta={meta} onClose={onClose} />;
  if (shown === 'send' && meta.outbound !== false)
    return <SendTest id={id} name={name} isRunning={status === 'running'} outbound={meta.outbound} onClose={onClose} />;
  return null;
}

function Remove({ path, name, onClose }: { path: string; name: string; onClose(): void }) {
  const remove = useAct({ changes, done: t('{name} is removed.', { name }), onDone: onClose });
  return (
    <Confirm
      title={t('Remove {name}?', { name })}
      button={t('Remove channel')}
      isBusy={remove.isPending}
      onClose={onClose}
      onConfirm={() => remove.mutate({ method: 'DELETE', path })}
    >
      <p>
        {t(
          'The channel is stopped, and its settings and its folder are removed. People on it are no longer answered. What was said stays.',
        )}
      </p>
    </Confirm>
  );
}

function factsOf(
  { url, restarts, heartbeat, started_at: began, usage, last_exit: exit, reason, status }: Instance,
  kind: string,
): string {
  const isRunning = status === 'running';
  const parts = [
    kind,
    isRunning && began !== null ? t('since {when}', { when: relativeTime(began) }) : null,
    isRunning && heartbeat === 'stale' ? t('not responding') : null,
    restarts > 0 ? plural(restarts, '{n} restart', '{n} restarts') : null,
    usage === null ? null : bytes(usage.memory_bytes),
    url,
    exit === null || isRunning ? null : endWords(exit, reason === null),
  ];
  return parts.filter((part) => part !== null).join(' · ');
}

function endWords({ at, reason }: NonNullable<Instance['last_exit']>, saysWhy: boolean): string {
  const when = relativeTime(at);
  return saysWhy ? t('ended {when}: {reason}', { when, reason }) : t('ended {when}', { when });
}
