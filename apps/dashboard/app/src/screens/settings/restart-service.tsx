import { t } from '@svc/chat-ui/language/t.ts';
import { wholeService } from '@svc/contract/control.ts';
import { useState } from 'react';
import { Confirm } from '../../parts/dialog.tsx';
import { useAct } from '../../parts/query.ts';

/** Stops all of the service and starts it again, with what waits for its next start. */
export function RestartService() {
  const [isAsked, setAsked] = useState(false);
  const act = useAct({
    done: t('The service starts again. This page goes on by itself.'),
    onDone: () => setAsked(false),
  });
  return (
    <>
      <button type="button" className="plain-button" onClick={() => setAsked(true)}>
        {t('Restart the service')}
      </button>
      {isAsked && (
        <Confirm
          title={t('Restart the service?')}
          button={t('Restart service')}
          isBusy={act.isPending}
          onClose={() => setAsked(false)}
          onConfirm={() =>
            act.mutate({ method: 'POST', path: '/collector/api/control/restart-daemon', body: { target: wholeService } })
          }
        >
          <p>
            {t(
              'Turns that run get a few seconds to end; those that do not are taken up again afterwards. Nobody is answered for some seconds. What is written meanwhile is answered then.',
            )}
          </p>
        </Confirm>
      )}
    </>
  );
}
