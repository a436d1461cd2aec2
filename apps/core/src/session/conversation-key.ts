/** Surfaces of the core itself: no connector instance stands behind them. */
const ownSurfaces = new Set(['shell', 'query']);

/** The instance id of a connector's key, such as `messenger:<instanceId>:user:<userId>`. */
export function instanceOfKey(channel: string, key: string): string | null {
  if (ownSurfaces.has(channel)) return null;
  const [surface, instanceId, ...rest] = key.split(':');
  return surface === channel && instanceId !== undefined && instanceId !== '' && rest.length > 0 ? instanceId : null;
}
