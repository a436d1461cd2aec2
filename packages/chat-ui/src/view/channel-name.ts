import { t } from '../language/t.ts';

/** What people call the channels that come with the service. */
const names: Readonly<Record<string, string>> = {
  chatroom: 'Discord',
  compat: t('an API client'),
  device: t('a device'),
  email: t('e-mail'),
  issues: 'GitHub',
  messenger: 'Telegram',
  mobile: t('a phone'),
  shell: t('the command line'),
  terminal: t('a terminal'),
  toolserver: 'MCP',
};

/** A channel by the name that people know; any other by its type. */
export const channelName = (surface: string): string => names[surface] ?? surface;
