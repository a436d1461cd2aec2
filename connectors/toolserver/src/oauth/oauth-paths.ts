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
