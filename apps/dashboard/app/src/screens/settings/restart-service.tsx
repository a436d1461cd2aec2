import { t } from '@svc/chat-ui/language/t.ts';
import { wholeService } from '@svc/contract/control.ts';
import { ConfirmButton } from '../../parts/dialog-button.tsx';

/** Stops all of the service and starts it again, with what waits for its next start. */
export const RestartService = () => (
  <ConfirmButton
    label={t('Restart the service')}
    title={t('Restart the service?')}
    button={t('Restart service')}
    change={{ method: 'POST', path: '/collector/api/control/restart-daemon', body: { target: wholeService } }}
    done={t('The service starts again. This page goes on by itself.')}
  >
    <p>
      {t(
        'Turns that run get a few seconds to end; those that do not are taken up again afterwards. Nobody is answered for some seconds. What is written meanwhile is answered then.',
      )}
    </p>
  </ConfirmButton>
);
