import { t } from '@svc/chat-ui/language/t.ts';
import type { Announcement } from '@svc/contract/announcement.ts';
import { Megaphone } from 'lucide-react';
import { useState } from 'react';
import { fullTime, relativeTime } from '../../../parts/format.ts';
import { Empty, Loaded, Section } from '../../../parts/page.tsx';
import { useAct, useApi } from '../../../parts/query.ts';
import { Status } from '../../../parts/status.tsx';
import { PostNote } from './post-note.tsx';
import { targetWords } from './targets.ts';

const path = '/core/v2/announcements';

/** Notes that conversations read at their next turn. */
export function Announcements() {
  const query = useApi<{ announcements: Announcement[] }>(path, 30_000);
  const [isPosting, setPosting] = useState(false);
  const remove = useAct({ changes: [path], done: t('It is removed. Conversations that have read it still know it.') });
  return (
    <Section
      title={t('Live notes')}
      actions={
        <button type="button" className="primary" onClick={() => setPosting(true)}>
          <Megaphone aria-hidden size={16} /> {t('Post a note')}
        </button>
      }
    >
      <Loaded query={query} rows={2}>
        {({ announcements }) =>
          announcements.length === 0 ? (
            <Empty title={t('No note is live.')}>
              <p>{t('A note is posted once. Each conversation it is for reads it at its next turn.')}</p>
            </Empty>
          ) : (
            <ul className="rows-list">
              {announcements.map(({ id, text, target, priority, from_session: from, created_at: at, expires_at: end }) => (
                <li key={id}>
                  <div className="line-between">
                    <b>{targetWords(target)}</b>
                    {priority === 'urgent' && <Status kind="warn" words={t('urgent')} />}
                  </div>
                  <p className="snippet">{text}</p>
                  <p className="muted small">
                    {[
                      t('posted {when}', { when: fullTime(at) }),
                      from === '' ? null : t('by {name}', { name: from }),
                      end === null ? t('stays') : t('ends {when}', { when: relativeTime(end) }),
                    ]
                      .filter((part) => part !== null)
                      .join(' · ')}
                  </p>
                  <p>
                    <button
                      type="button"
                      className="danger"
                      disabled={remove.isPending}
                      onClick={() => remove.mutate({ method: 'DELETE', path: `${path}/${id}` })}
                    >
                      {t('Take note back')}
                    </button>
                  </p>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {isPosting && <PostNote path={path} onClose={() => setPosting(false)} />}
    </Section>
  );
}
