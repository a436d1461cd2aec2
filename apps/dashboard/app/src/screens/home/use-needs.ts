import { shorten } from '@svc/chat-ui/language/shorten.ts';
import { plural, t } from '@svc/chat-ui/language/t.ts';
import type { OpenAsk } from '@svc/contract/ask.ts';
import type { Backup, RestoreState } from '@svc/contract/backup.ts';
import type { LoadedMeta } from '@svc/contract/connector-meta.ts';
import type { SpendReport } from '@svc/contract/cost.ts';
import type { DeliveryPage } from '@svc/contract/delivery.ts';
import type { EngineChoice, HealthInfo } from '@svc/contract/service.ts';
import type { Instance } from '@svc/contract/instance.ts';
import type { PendingIdentity } from '@svc/contract/pairing.ts';
import type { UpdateStatus } from '@svc/contract/update.ts';
import { relativeTime } from '../../parts/format.ts';
import { useApi } from '../../parts/query.ts';
import { lackingSecret } from '../channels/lacking-secret.ts';
import { isOwnChannel } from '../channels/own-channels.ts';
import type { Need, Remedy } from './need.ts';
import { ofSpend } from './spend-needs.ts';

const everyMs = 60_000;
const shownDeliveries = 10;

/** Everything that needs the operator now, and whether everything is loaded. */
export function useNeeds(): { needs: Need[]; isKnown: boolean } {
  const health = {
    core: useApi<HealthInfo>('/core/health', everyMs),
    manager: useApi<HealthInfo>('/manager/health', everyMs),
    collector: useApi<HealthInfo>('/collector/health', everyMs),
  };
  const asks = useApi<{ asks: OpenAsk[] }>('/core/v2/asks', everyMs);
  const deliveries = useApi<DeliveryPage>(`/core/v2/deliveries?state=failed&limit=${shownDeliveries}`, everyMs);
  const pending = useApi<{ pending: PendingIdentity[] }>('/core/trust/pending', everyMs);
  const instances = useApi<{ instances: Instance[] }>('/manager/instances', everyMs);
  const types = useApi<{ types: LoadedMeta[] }>('/manager/types');
  const engines = useApi<{ current: EngineChoice | null }>('/core/v2/engines', everyMs);
  const spend = useApi<SpendReport>('/core/v2/spend', everyMs);
  const backups = useApi<{ backups: Backup[]; restore: RestoreState | null }>('/core/v2/backups', everyMs);
  const update = useApi<UpdateStatus>('/core/v2/update/status', everyMs);

  const needs = [
    ...Object.entries(health).flatMap(([name, { data, error }]) => ofHealth(name, data, error)),
    ...(asks.data?.asks ?? []).map(ofAsk),
    ...(deliveries.data?.deliveries ?? []).map(ofDelivery),
    ...ofInstances(instances.data?.instances ?? [], types.data?.types ?? []),
    ...ofNoChannel(instances.data?.instances),
    ...(pending.data === undefined || pending.data.pending.length === 0 ? [] : [ofStrangers(pending.data.pending)]),
    ...ofSpend(spend.data),
    ...ofEngine(engines.data?.current),
    ...ofBackups(backups.data?.backups),
    ...ofRestore(backups.data?.restore),
    ...ofUpdate(update.data),
  ];
  const all = [...Object.values(health), asks, deliveries, pending, instances, engines, spend, backups, update];
  return { needs, isKnown: all.every(({ isPending }) => !isPending) };
}

function ofHealth(name: string, data: HealthInfo | undefined, error: Error | null): Need[] {
  if (error !== null)
    return [
      {
        key: name,
        status: 'bad',
        title: t('The {process} is not reachable', { process: name }),
        words: error.message,
        remedy: null,
      },
    ];
  return (data?.degraded ?? []).map((words) => ({
    key: name + words,
    status: 'bad',
    title: t('The {process} has a problem', { process: name }),
    words,
    remedy: null,
  }));
}

const ofAsk = ({ id, text, conversation_key: key, expires_at: end }: OpenAsk): Need => ({
  key: id,
  status: 'warn',
  title: t('A question waits for an answer'),
  words: t('{question} It is denied {when}.', { question: text, when: relativeTime(end) }),
  remedy: { kind: 'link', words: t('Answer it'), to: `/sessions/${encodeURIComponent(key)}` },
});

const ofDelivery = ({ id, text, instance_id: instance, target, error }: DeliveryPage['deliveries'][number]): Need => ({
  key: id,
  status: 'bad',
  title:
    instance === null && target === null
      ? t('A reply has not reached its channel')
      : t('A reply has not reached {place}', { place: [instance, target].filter((part) => part !== null).join(' · ') }),
  words: `${t('“{text}”', { text: shorten(text, 120) })} ${error ?? ''}`,
  remedy: {
    kind: 'call',
    words: t('Send it again'),
    method: 'POST',
    path: `/core/v2/deliveries/${encodeURIComponent(id)}/retry`,
    changes: ['/core/v2/deliveries'],
    done: t('It is being sent again.'),
  },
});

const ofInstances = (instances: readonly Instance[], types: readonly LoadedMeta[]): Need[] =>
  instances
    .filter(({ enabled, status }) => enabled && (status === 'failed' || status === 'backoff' || status === 'waiting'))
    .map((instance) => ({
      ...instance,
      lacks: lackingSecret(
        instance,
        types.find(({ type }) => type === instance.type),
      ),
    }))
    .map(({ id, name, reason, status, lacks }) => ({
      key: id,
      status: status === 'waiting' ? 'warn' : 'bad',
      title: t('The channel {name} does not run', { name }),
      words: reason ?? status,
      // Without its secret it would stop again.
      remedy:
        lacks === null
          ? {
              kind: 'call',
              words: t('Restart it'),
              method: 'POST',
              path: `/manager/instances/${encodeURIComponent(id)}/restart`,
              changes: ['/manager/instances'],
              done: t('{name} is being started.', { name }),
            }
          : { kind: 'link', words: t('Enter its secret'), to: '/channels' },
    }));

const ofNoChannel = (instances: readonly Instance[] | undefined): Need[] =>
  instances === undefined || instances.some(isOwnChannel)
    ? []
    : [
        {
          key: 'channel',
          status: 'none',
          title: t('No channel is connected'),
          words: t('The assistant answers only here.'),
          remedy: { kind: 'link', words: t('Connect one'), to: '/welcome/channel' },
        },
      ];

const ofStrangers = (pending: readonly PendingIdentity[]): Need => ({
  key: 'strangers',
  status: 'warn',
  title: plural(pending.length, '{n} stranger waits to be let in', '{n} strangers wait to be let in'),
  words: pending
    .slice(0, 3)
    .map(({ name, value, surface }) => `${name ?? value} (${surface})`)
    .join(', '),
  remedy: { kind: 'link', words: t('Show them'), to: '/people' },
});

const toSettings = (section: string): Remedy => ({ kind: 'link', words: t('Go to the settings'), to: `/settings/${section}` });

const ofEngine = (current: EngineChoice | null | undefined): Need[] =>
  current?.id !== 'offline'
    ? []
    : [
        {
          key: 'engine',
          status: 'warn',
          title: t('No model is connected'),
          words: t('Answers come from a stand-in. {why}', { why: current.why }),
          remedy: toSettings('engines'),
        },
      ];

/** A restore, or undoing one, happens only at a restart, so the operator must be reminded. */
function ofRestore(restore: RestoreState | null | undefined): Need[] {
  if (restore == null || restore.state === 'applied') return [];
  const title = restore.state === 'pending' ? t('A backup will be restored') : t('A restore will be undone');
  return [
    {
      key: 'restore',
      status: 'warn',
      title,
      words: t('This happens at the next start of the service.'),
      remedy: toSettings('backups'),
    },
  ];
}

function ofBackups(backups: readonly Backup[] | undefined): Need[] {
  const newest = backups?.[0];
  if (newest?.state !== 'failed') return [];
  return [
    {
      key: newest.id,
      status: 'bad',
      title: t('The last backup has failed'),
      words: newest.error ?? '',
      remedy: toSettings('backups'),
    },
  ];
}

function ofUpdate(status: UpdateStatus | undefined): Need[] {
  if (status === undefined) return [];
  const { running, check, last, channel } = status;
  if (running !== null)
    return [
      {
        key: 'update',
        status: 'busy',
        title: t('Updating to {version}', { version: running.to }),
        words: running.phase,
        remedy: toSettings('version'),
      },
    ];
  if (check?.code !== 0 || check.to === null) return [];
  // On `edge` every version has the same name.
  const hasFailed = last !== null && last.code !== 0 && last.to === check.to.name && channel === 'stable';
  return [
    {
      key: 'update',
      status: 'none',
      title: t('Version {version} is available', { version: check.to.name }),
      words: hasFailed ? last.words : t('It can be installed.'),
      remedy: toSettings('version'),
    },
  ];
}
