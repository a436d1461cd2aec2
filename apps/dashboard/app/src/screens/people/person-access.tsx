import { t } from '@svc/chat-ui/language/t.ts';
import type { Principal } from '@svc/contract/trust.ts';
import { useState } from 'react';
import { Confirm } from '../../parts/dialog.tsx';
import { useAct } from '../../parts/query.ts';
import { ErasePerson } from './erase-person.tsx';
import { lastOwner, pathOf, trustPaths } from './trust-words.ts';

type Props = { person: Principal; isLast: boolean; onClose(): void };

/** Disabling a person, removing them, and erasing everything stored about them. */
export function PersonAccess({ person, isLast, onClose }: Props) {
  const [asked, setAsked] = useState<'remove' | 'erase' | null>(null);
  const name = person.display_name;
  const isActive = person.status === 'active';
  const change = useAct({
    changes: trustPaths,
    done: isActive ? t('{name} is disabled.', { name }) : t('{name} is let in again.', { name }),
  });
  const remove = useAct({ changes: trustPaths, done: t('{name} is removed.', { name }), onDone: onClose });
  const close = () => setAsked(null);
  return (
    <section className="stack" aria-label={t('Access and removal')}>
      <p className="row-buttons">
        <button
          type="button"
          className="plain-button"
          disabled={(isActive && isLast) || change.isPending}
          onClick={() =>
            change.mutate({ method: 'PATCH', path: pathOf(person), body: { status: isActive ? 'disabled' : 'active' } })
          }
        >
          {isActive ? t('Disable person') : t('Let in again')}
        </button>
        <button type="button" className="danger" disabled={isLast} onClick={() => setAsked('remove')}>
          {t('Remove person')}
        </button>
        <button type="button" className="danger" disabled={isLast} onClick={() => setAsked('erase')}>
          {t('Erase person')}
        </button>
      </p>
      {isLast && <p className="muted small">{lastOwner}</p>}
      {asked === 'remove' && (
        <Confirm
          title={t('Remove {name}?', { name })}
          button={t('Remove person')}
          isBusy={remove.isPending}
          onClose={close}
          onConfirm={() => remove.mutate({ method: 'DELETE', path: pathOf(person) })}
        >
          <p>
            {t(
              'Their roles and names on channels are removed: anyone who writes from there is a stranger again. What was said stays.',
            )}
          </p>
        </Confirm>
      )}
      {asked === 'erase' && <ErasePerson person={person} onClose={close} onErased={onClose} />}
    </section>
  );
}
