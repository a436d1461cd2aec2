import { t } from '@svc/chat-ui/language/t.ts';
import { wholeService } from '@svc/contract/control.ts';
import { ConfirmButton } from '../../parts/dialog-button.tsx';

/** Restarts the whole service, which also applies what waits for the next start. */
export const RestartService = () => (
  <ConfirmButton
    label={t('Restart the service')}
    title={t('Restart the service?')}
    button={t('Restart service')}
    change={{ method: 'POST', path: '/collector/api/control/restart-daemon', body: { target: wholeService } }}
    done={t('The service is restarting. This page continues automatically.')}
  >
    <p>
      {t(
        'Running turns get a few seconds to finish; the others are resumed afterwards. For some seconds no one is answered; messages from that time are answered then.',
      )}
    </p>
  </ConfirmButton>
);
