import { t } from '@svc/chat-ui/language/t.ts';

/** The first run, after the login is set up. The step is in the address, so a reload continues there. */
export const steps = ['engine', 'message', 'channel'] as const;
export type Step = (typeof steps)[number];

export const stepWords: Record<Step, string> = {
  engine: t('Who answers'),
  message: t('First message'),
  channel: t('A channel'),
};
