import { t } from '@svc/chat-ui/language/t.ts';
import type { LoadedMeta } from '@svc/contract/connector-meta.ts';
import type { Instance } from '@svc/contract/instance.ts';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Empty, Loaded, Page } from '../../parts/page.tsx';
import { useApi } from '../../parts/query.ts';
import { AddChannel, EditChannel } from './channel-form.tsx';
import { ChannelRow } from './channel-row.tsx';

/** The state of each channel, and its actions. */
export function Channels() {
  const types = useApi<{ types: LoadedMeta[] }>('/manager/types');
  const instances = useApi<{ instances: Instance[] }>('/manager/instances', 15_000);
  const [isAdding, setAdding] = useState(false);
  const [edited, setEdited] = useState<Instance | null>(null);
  const known = types.data?.types ?? [];
  const all = instances.data?.instances ?? [];
  const metaOf = (type: string) => known.find((meta) => meta.type === type);
  const editedMeta = edited === null ? undefined : metaOf(edited.type);
  return (
    <Page
      title={t('Channels')}
      actions={
        <button type="button" className="primary" disabled={types.data === undefined} onClick={() => setAdding(true)}>
          <Plus aria-hidden size={16} /> {t('Add channel')}
        </button>
      }
    >
      <Loaded query={instances}>
        {(data) =>
          data.instances.length === 0 ? (
            <Empty title={t('No channel yet')}>
              <p>{t('Add one, and the assistant is available to the people on it.')}</p>
            </Empty>
          ) : (
            <ul className="rows-list">
              {data.instances.map((instance) => (
                <ChannelRow
                  key={instance.id}
                  instance={instance}
                  meta={metaOf(instance.type)}
                  onEdit={() => setEdited(instance)}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      {isAdding && <AddChannel types={known} instances={all} onClose={() => setAdding(false)} />}
      {edited !== null && editedMeta !== undefined && (
        <EditChannel meta={editedMeta} instances={all} instance={edited} onClose={() => setEdited(null)} />
      )}
    </Page>
  );
}
