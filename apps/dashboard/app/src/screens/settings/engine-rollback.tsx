import { t } from '@svc/chat-ui/language/t.ts';
import type { EngineView } from '@svc/contract/engine.ts';
import { ConfirmButton } from '../../parts/dialog-button.tsx';
import { enginesPath } from './engine-list.ts';

/** The core checks the engine at that version before it answers. */
const rollbackMs = 90_000;

type Props = { engine: Pick<EngineView, 'id' | 'version' | 'previous_version'>; path: string };

/** Goes back to the previous version of an engine; null when there is none. */
export function EngineRollback({ engine: { id, version, previous_version: before }, path }: Props) {
  if (before === null) return null;
  return (
    <ConfirmButton
      label={t('Go back to {version}', { version: before })}
      title={t('Go back to {engine} {version}?', { engine: id, version: before })}
      button={t('Go back')}
      change={{ method: 'POST', path: `${path}/rollback`, timeoutMs: rollbackMs }}
      changes={[enginesPath]}
      done={t('{engine} is back at {version}.', { engine: id, version: before })}
    >
      <p>
        {t(
          'The next turn is answered by it. {version} stays here, so you can come back to it, and is not installed automatically again.',
          { version: version ?? t('The other version') },
        )}
      </p>
    </ConfirmButton>
  );
}
