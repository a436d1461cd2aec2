/** Names of what the operator does with a gateway, by `./svc device` (`POST /instances/:id/call`). */
export const gatewayCalls = ['invite', 'devices', 'rename', 'revoke', 'act', 'allow', 'deny'] as const;
