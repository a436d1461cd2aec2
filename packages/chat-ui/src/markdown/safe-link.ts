/** Where a link of a model may lead, and the host to show; null for all that is no http(s) or mail address. */
export function safeLink(href: string): { href: string; host: string } | null {
  const url = URL.parse(href);
  if (url === null || url.username !== '' || url.password !== '') return null;
  if (url.protocol === 'mailto:') return { href: url.href, host: url.pathname };
  return url.protocol === 'https:' || url.protocol === 'http:' ? { href: url.href, host: url.host } : null;
}
