import { t } from '@svc/chat-ui/language/t.ts';

/** The first run, after the login is set up. The step stands in the address: a reload goes on with it. */
export const steps = ['engine', 'message', 'channel'] as const;
export type Step = (typeof steps)[number];

export const stepWords: Record<Step, string> = {
  engine: t('Who answers'),
  message: t('First message'),
  channel: t('A channel'),
};
