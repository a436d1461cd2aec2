const longest = 2000;

/** A link's address as Telegram accepts it; null for one that it refuses, such as a host on the local network. */
export function toLink(address: string): string | null {
  const url = URL.parse(address.trim());
  if (url === null || url.href.length > longest) return null;
  if (url.protocol === 'tg:') return /^tg:\/\/\w/.test(url.href) ? url.href : null;
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return null;
  const isPublic = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*\.[a-z0-9-]{2,}$|^\d+(\.\d+){3}$/i.test(url.hostname);
  return isPublic && url.username === '' && url.password === '' ? url.href : null;
}
