import { Rich } from '@svc/chat-ui/language/rich.tsx';
import { t } from '@svc/chat-ui/language/t.ts';
import type { LoadedMeta } from '@svc/contract/connector-meta.ts';
import type { Instance } from '@svc/contract/instance.ts';
import type { NewInvitation } from '@svc/contract/pairing.ts';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Loaded, Section } from '../../parts/page.tsx';
import { useAct, useApi } from '../../parts/query.ts';
import { AddChannel } from '../channels/channel-form.tsx';
import { ChannelRow } from '../channels/channel-row.tsx';
import { isOwnChannel } from '../channels/own-channels.ts';

/** Adds a channel: its type, its state, and a code that lets its owner in there. */
export function ChannelStep() {
  const types = useApi<{ types: LoadedMeta[] }>('/manager/types');
  const query = useApi<{ instances: Instance[] }>('/manager/instances', 5000);
  const [isAdding, setAdding] = useState(false);
  const known = types.data?.types ?? [];
  const close = () => setAdding(false);
  return (
    <Section title={t('Add another channel')}>
      <p>
        {t(
          'The assistant can answer you on channels that you use already. This can be done at any time, on the screen of channels.',
        )}
      </p>
      <Loaded query={query}>
        {({ instances }) => {
          const own = instances.filter(isOwnChannel);
          return (
            <>
              <ul className="rows-list">
                {own.map((instance) => (
                  <ChannelRow
                    key={instance.id}
                    instance={instance}
                    meta={known.find(({ type }) => type === instance.type)}
                    onEdit={undefined}
                  />
                ))}
              </ul>
              {own.length > 0 && <LetMeIn />}
              {isAdding && <AddChannel types={known} instances={instances} onClose={close} />}
            </>
          );
        }}
      </Loaded>
      <p className="row-buttons">
        <button type="button" className="primary" disabled={types.data === undefined} onClick={() => setAdding(true)}>
          {t('Add channel')}
        </button>
        <Link to="/" className="plain-button">
          {t('Go home')}
        </Link>
      </p>
    </Section>
  );
}

/** A code that links its sender on the channel to the owner. */
function LetMeIn() {
  const [code, setCode] = useState<string | null>(null);
  const act = useAct<NewInvitation>({ onDone: (made) => setCode(made.code) });
  if (code !== null)
    return (
      <p role="status">
        <Rich
          text="Write this to the assistant on the channel. It works once: {code}"
          code={<code className="code">{code}</code>}
        />
      </p>
    );
  return (
    <p>
      <button
        type="button"
        className="plain-button"
        disabled={act.isPending}
        onClick={() => act.mutate({ method: 'POST', path: '/core/trust/invitations', body: { as: 'owner' } })}
      >
        {t('Show a code that lets me in there')}
      </button>
    </p>
  );
}
