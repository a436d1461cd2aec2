import { t } from '@svc/chat-ui/language/t.ts';
import type { EngineView } from '@svc/contract/engine.ts';
import { ConfirmButton } from '../../parts/dialog-button.tsx';
import { useAct } from '../../parts/query.ts';
import { enginesPath } from './engine-list.ts';

type Props = { engine: Pick<EngineView, 'id' | 'default' | 'key_present'>; path: string };

/** Resets an engine: removes its key, and its choice as the one that answers. */
export function EngineResets({ engine, path }: Props) {
  return (
    <>
      {engine.key_present && <RemoveKey id={engine.id} path={path} />}
      {engine.default && <ClearDefault />}
    </>
  );
}

const RemoveKey = ({ id, path }: { id: string; path: string }) => (
  <ConfirmButton
    look="danger"
    title={t('Remove the key of {engine}?', { engine: id })}
    button={t('Remove key')}
    change={{ method: 'DELETE', path: `${path}/apikey` }}
    changes={[enginesPath]}
    done={t('The key of {engine} is removed.', { engine: id })}
  >
    <p>{t('The key is deleted from the secrets. The engine uses its login again.')}</p>
  </ConfirmButton>
);

function ClearDefault() {
  const act = useAct({ changes: [enginesPath], done: t('The first engine that is ready answers from now on.') });
  return (
    <button
      type="button"
      className="plain-button"
      disabled={act.isPending}
      onClick={() => act.mutate({ method: 'DELETE', path: `${enginesPath}/default` })}
    >
      {t('Leave the choice to the service')}
    </button>
  );
}
