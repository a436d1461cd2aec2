/** Where the authorization server answers (spec: toolserver connector). */
export const oauthPaths = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  registration: '/oauth/register',
  revocation: '/oauth/revoke',
  consent: '/oauth/consent',
  approve: '/oauth/approve',
  jwks: '/oauth/jwks',
  metadata: '/.well-known/oauth-authorization-server',
  resourceMetadata: '/.well-known/oauth-protected-resource',
} as const;

export const mcpPath = '/mcp';
/** The stream of the old transport: one resource with the above, under the address that its clients know. */
export const ssePath = '/sse';

/** Whether tokens are given for an address, and to which of ours it leads. */
export const isResource = (asked: string, origin: string): boolean => {
  const href = URL.parse(asked)?.href;
  return [mcpPath, ssePath].some((path) => href === `${origin}${path}`);
};
