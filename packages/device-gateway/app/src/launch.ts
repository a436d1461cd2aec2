/** How the app was opened: by a shortcut, or by something that was shared with it. */
export type Launch = { action: 'write' | 'speak' | 'sessions' | null; text: string };

/** Read once, and taken out of the address, so that a reload does it not again. */
export function takeLaunch(): Launch {
  const query = new URLSearchParams(location.search);
  if (query.size > 0) history.replaceState(null, '', location.pathname);
  const action = query.get('do');
  const shared = ['share_title', 'share_text', 'share_url'].flatMap((name) => query.get(name) ?? []);
  return {
    action: action === 'write' || action === 'speak' || action === 'sessions' ? action : null,
    text: [...new Set(shared)].join('\n').slice(0, 20_000),
  };
}
