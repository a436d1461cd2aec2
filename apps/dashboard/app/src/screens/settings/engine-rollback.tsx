import { t } from '@svc/chat-ui/language/t.ts';
import type { EngineView } from '@svc/contract/engine.ts';
import { useState } from 'react';
import { Confirm } from '../../parts/dialog.tsx';
import { useAct } from '../../parts/query.ts';

/** It is looked at as that version before the core answers. */
const rollbackMs = 90_000;

type Props = { engine: Pick<EngineView, 'id' | 'version' | 'previous_version'>; path: string };

/** Back to the version of an engine before; nothing where there is none. */
export function EngineRollback({ engine: { id, version, previous_version: before }, path }: Props) {
  const [isAsked, setAsked] = useState(false);
  const act = useAct({
    changes: ['/core/v2/engines'],
    done: t('{engine} is {version} again.', { engine: id, version: before ?? '' }),
    onDone: () => setAsked(false),
  });
  if (before === null) return null;
  return (
    <>
      <button type="button" className="plain-button" onClick={() => setAsked(true)}>
        {t('Go back to {version}', { version: before })}
      </button>
      {isAsked && (
        <Confirm
          title={t('Go back to {engine} {version}?', { engine: id, version: before })}
          button={t('Go back')}
          isBusy={act.isPending}
          onClose={() => setAsked(false)}
          onConfirm={() => act.mutate({ method: 'POST', path: `${path}/rollback`, timeoutMs: rollbackMs })}
        >
          <p>
            {t(
              'The next turn is answered by it. {version} stays here, so you can come back to it, and is not put in place by itself again.',
              { version: version ?? t('The other version') },
            )}
          </p>
        </Confirm>
      )}
    </>
  );
}
