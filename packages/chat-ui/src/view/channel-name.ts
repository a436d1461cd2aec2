/** What people call the channels that come with the service. */
const names: Readonly<Record<string, string>> = {
  chatroom: 'Discord',
  compat: 'an API client',
  device: 'a device',
  email: 'e-mail',
  issues: 'GitHub',
  messenger: 'Telegram',
  mobile: 'a phone',
  shell: 'the command line',
  terminal: 'a terminal',
  toolserver: 'MCP',
};

/** A channel by the name that people know; one of somebody else by its type. */
export const channelName = (surface: string): string => names[surface] ?? surface;
