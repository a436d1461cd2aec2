/** A model service for many vendors' models that speaks the Responses protocol, with keys of its own. */
export const openRouter = { name: 'OpenRouter', baseUrl: 'https://openrouter.ai/api/v1', keyName: 'OPENROUTER_API_KEY' } as const;

/** True for an address to which a key of OpenRouter may be sent. */
export function isOpenRouter(url: string | null): boolean {
  if (url === null || !URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  const own = new URL(openRouter.baseUrl).hostname;
  return protocol === 'https:' && (hostname === own || hostname.endsWith(`.${own}`));
}
