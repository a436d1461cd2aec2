import { t } from '@svc/chat-ui/language/t.ts';
import type { Instance } from '@svc/contract/instance.ts';
import type { Session, SessionPage } from '@svc/contract/session.ts';
import type { Principal } from '@svc/contract/trust.ts';
import { useApi } from '../../../parts/query.ts';
import { useAllPeople } from '../../../parts/use-people.ts';

/** The kinds of recipients of a note. */
export const targetKinds = ['all', 'channel', 'person', 'session'] as const;
export type TargetKind = (typeof targetKinds)[number];
export const kindWords: Record<TargetKind, string> = {
  all: t('Everybody'),
  channel: t('A channel'),
  person: t('A person'),
  session: t('One session'),
};

export type Target = { value: string; words: string };

/** Channels without an instance: the shell and the web. */
const ownChannels = ['shell', 'web'];
const sessionCount = 200;

/** The recipients of a kind, by target; null while unknown. */
export function useTargets(kind: TargetKind): Target[] | null {
  const instances = useApi<{ instances: Instance[] }>(kind === 'channel' ? '/manager/instances' : null);
  const people = useAllPeople(kind === 'person');
  const sessions = useApi<SessionPage>(kind === 'session' ? `/core/v2/sessions?limit=${sessionCount}` : null);
  switch (kind) {
    case 'all':
      return [];
    case 'channel': {
      const types = instances.data?.instances.map(({ type }) => type);
      return types === undefined ? null : [...new Set([...types, ...ownChannels])].map(toChannel);
    }
    case 'person':
      return people.data?.principals.map(toPerson) ?? null;
    case 'session':
      return sessions.data?.sessions.map(toSession) ?? null;
  }
}

const toChannel = (channel: string): Target => ({ value: `surface:${channel}`, words: channel });
const toPerson = ({ key, display_name: name }: Principal): Target => ({ value: `identity:${key}`, words: name || key });
const toSession = ({ conversation_key: key, title }: Session): Target => ({
  value: key,
  words: title === null ? key : `${title} (${key})`,
});

/** The display name of a target. */
export function targetWords(target: string): string {
  if (target === '*') return t('For everybody');
  if (target.startsWith('surface:')) return t('For the channel {name}', { name: target.slice('surface:'.length) });
  return target.startsWith('identity:')
    ? t('For the person {name}', { name: target.slice('identity:'.length) })
    : t('For the session {key}', { key: target });
}
