import { t } from '@svc/chat-ui/language/t.ts';
import type { Instance } from '@svc/contract/instance.ts';
import type { SessionPage } from '@svc/contract/session.ts';
import type { Grant } from '@svc/contract/trust.ts';
import { useId } from 'react';
import { Field } from '../../parts/field.tsx';
import { useApi } from '../../parts/query.ts';

type Scope = Grant['scope'];
type Props = { scope: Scope; onScope(scope: Scope): void };

/** Channels without a connector. */
const ownChannels = ['web', 'shell'];
const everywhere = '';
const oneConversation = ' conversation';

/** Where a role applies: everywhere, on a channel, or in one conversation. */
export function PlaceField({ scope, onScope }: Props) {
  const instances = useApi<{ instances: Instance[] }>('/manager/instances');
  const channels = [...new Set([...(instances.data?.instances ?? []).map(({ type }) => type), ...ownChannels])].toSorted();
  const isOne = scope.conversation_key !== undefined;
  const choose = (value: string) =>
    onScope(value === everywhere ? {} : value === oneConversation ? { conversation_key: '' } : { surface: value });
  return (
    <>
      <Field label={t('Where')}>
        {(props) => (
          <select
            {...props}
            value={isOne ? oneConversation : (scope.surface ?? everywhere)}
            onChange={({ target }) => choose(target.value)}
          >
            <option value={everywhere}>{t('everywhere')}</option>
            {channels.map((channel) => (
              <option key={channel} value={channel}>
                {t('on {channel}', { channel })}
              </option>
            ))}
            <option value={oneConversation}>{t('in one conversation')}</option>
          </select>
        )}
      </Field>
      {isOne && <Conversation chosen={scope.conversation_key ?? ''} onKey={(key) => onScope({ conversation_key: key })} />}
    </>
  );
}

/** Suggests the conversations that were used last. */
function Conversation({ chosen, onKey }: { chosen: string; onKey(key: string): void }) {
  const list = useId();
  const { data } = useApi<SessionPage>('/core/v2/sessions?limit=100');
  return (
    <Field label={t('Conversation')} hint={t('The key of its session.')}>
      {(props) => (
        <>
          <input
            {...props}
            list={list}
            value={chosen}
            maxLength={512}
            spellCheck={false}
            onChange={({ target }) => onKey(target.value)}
          />
          <datalist id={list}>
            {(data?.sessions ?? []).map(({ conversation_key: key, title }) => (
              <option key={key} value={key}>
                {title ?? key}
              </option>
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}

export const isPlace = ({ conversation_key: key }: Scope): boolean => key === undefined || key.trim() !== '';
