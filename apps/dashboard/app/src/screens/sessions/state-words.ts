import { t } from '@svc/chat-ui/language/t.ts';
import type { ListedSession, SessionState } from '@svc/contract/session.ts';

/** The title of a session of the core or the collector. */
export const stateWords: Record<SessionState | ListedSession['state'], string> = {
  idle: t('idle'),
  queued: t('queued'),
  running: t('running'),
  claimed: t('claimed'),
  ended: t('ended'),
};
