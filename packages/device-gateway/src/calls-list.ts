/** The operator's calls to a gateway, made by `./svc device` (`POST /instances/:id/call`). */
export const gatewayCalls = ['invite', 'devices', 'rename', 'revoke', 'act', 'allow', 'deny'] as const;
