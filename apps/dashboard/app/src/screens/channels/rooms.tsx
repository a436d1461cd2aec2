import { plural, t } from '@svc/chat-ui/language/t.ts';
import type { ChannelInfo, ToggleChannel } from '@svc/contract/send.ts';
import { useState } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { Loaded } from '../../parts/page.tsx';
import { useAct, useApi } from '../../parts/query.ts';

type Props = { path: string; name: string; onClose(): void };

/** More can be found by searching. */
const maxShown = 100;

/** The rooms that a channel reaches, and whether their messages go to the assistant. Changes take effect without a restart. */
export function Rooms({ path, name, onClose }: Props) {
  const [text, setText] = useState('');
  const query = useApi<{ channels: ChannelInfo[] }>(`${path}/channels`);
  const toggle = useAct({ changes: [`${path}/channels`], done: t('Saved.') });
  // The expected state until the list was read again.
  const wanted = toggle.isPending ? (toggle.variables.body as ToggleChannel) : null;
  return (
    <Dialog title={t('Rooms of {name}', { name })} onClose={onClose} wide>
      <Loaded query={query}>
        {({ channels }) => {
          const found = channels.filter((room) => `${room.name} ${room.id}`.toLowerCase().includes(text.trim().toLowerCase()));
          if (channels.length === 0) return <p className="muted">{t('It reaches no room yet.')}</p>;
          return (
            <div className="stack">
              <Field label={t('Find a room')}>
                {(props) => <input {...props} type="search" value={text} onChange={({ target }) => setText(target.value)} />}
              </Field>
              <ul className="rows-list">
                {found.slice(0, maxShown).map(({ id, name: room, enabled }) => (
                  <li key={id}>
                    <label className="check">
                      <input
                        type="checkbox"
                        checked={wanted?.channel_id === id ? wanted.enabled : enabled}
                        disabled={toggle.isPending}
                        onChange={({ target }) =>
                          toggle.mutate({
                            method: 'POST',
                            path: `${path}/channels`,
                            body: { channel_id: id, enabled: target.checked },
                          })
                        }
                      />{' '}
                      {room}
                    </label>
                    <p className="muted small path">{id}</p>
                  </li>
                ))}
              </ul>
              {found.length > maxShown && (
                <p className="muted">
                  {plural(found.length - maxShown, '{n} more: find them by a word.', '{n} more: find them by a word.')}
                </p>
              )}
              {found.length === 0 && <p className="muted">{t('No room matches.')}</p>}
            </div>
          );
        }}
      </Loaded>
    </Dialog>
  );
}
