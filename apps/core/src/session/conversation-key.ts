/** Surfaces of the core itself: no connector instance stands behind them. */
const ownSurfaces = new Set(['shell', 'query']);

/** The instance id of a connector's key, such as `messenger:<instanceId>:user:<userId>`. */
export function instanceOfKey(channel: string, key: string): string | null {
  if (ownSurfaces.has(channel)) return null;
  const [surface, instanceId, ...rest] = key.split(':');
  return surface === channel && instanceId !== undefined && instanceId !== '' && rest.length > 0 ? instanceId : null;
}

/** Whether a key is of the form of a channel's own keys: `<channel>:…`. Another channel is a guest in such a session. */
export const isKeyOf = (channel: string, key: string): boolean => key.startsWith(`${channel}:`);
