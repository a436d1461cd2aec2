import { t } from '@svc/chat-ui/language/t.ts';
import type { ListedSession, SessionState } from '@svc/contract/session.ts';

/** How a session is called that the core or the collector knows. */
export const stateWords: Record<SessionState | ListedSession['state'], string> = {
  idle: t('idle'),
  queued: t('queued'),
  running: t('running'),
  claimed: t('claimed'),
  ended: t('ended'),
};
